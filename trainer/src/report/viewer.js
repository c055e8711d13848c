(() => {
  const root = document.getElementById("viewer");
  const { files, ranks, first } = BOARD;
  const margin = 44;
  let game = 0, ply = 0;

  const make = (name, attributes, parent) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    parent.append(node);
    return node;
  };

  const select = document.createElement("select");
  select.setAttribute("aria-label", "game");
  GAMES.forEach((one, number) => select.append(new Option(`Game ${number + 1}: ${one.title}`, number)));
  const board = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  board.setAttribute("viewBox", `0 0 ${margin + files * 100} ${ranks * 100 + margin}`);
  board.setAttribute("role", "img");
  const bar = document.createElement("nav");
  const words = document.createElement("p");
  words.setAttribute("aria-live", "polite");
  root.append(select, board, bar, words);

  const rows = (text) => text.replace(/\[.*\]/, "").split("/").map((row) => row.replace(/\d+/g, (n) => " ".repeat(+n)));
  const inHand = (text) => {
    const men = text.match(/\[(.*)\]/)?.[1];
    return men ? `; in hand: ${men}` : "";
  };

  const show = () => {
    const { boards, moves, q } = GAMES[game];
    board.replaceChildren();
    const before = rows(boards[Math.max(0, ply - 1)]);
    rows(boards[ply]).forEach((cells, fromTop) => {
      [...cells].forEach((letter, file) => {
        const x = margin + file * 100, y = fromTop * 100;
        if (letter === "*") return;
        const dark = (file + ranks - 1 - fromTop) % 2 === 0;
        make("rect", { x, y, width: 100, height: 100, fill: dark ? "var(--dark)" : "var(--light)" }, board);
        if (letter !== before[fromTop][file])
          make("rect", { x: x + 4, y: y + 4, width: 92, height: 92, fill: "none", stroke: "var(--s2)", "stroke-width": 6 }, board);
        if (letter !== " ") {
          const side = letter === letter.toUpperCase() ? "w" : "b";
          make("use", { href: `#${side}${letter.toUpperCase()}`, x, y, width: 100, height: 100 }, board);
        }
      });
    });
    for (let rank = 0; rank < ranks; rank++)
      make("text", { x: margin / 2, y: (ranks - 1 - rank) * 100 + 60 }, board).textContent = +first + rank;
    for (let file = 0; file < files; file++)
      make("text", { x: margin + file * 100 + 50, y: ranks * 100 + 32 }, board).textContent = String.fromCharCode(97 + file);
    const value = ply < q.length ? `; the search sees ${q[ply].toFixed(2)} for White` : "";
    const next = ply < moves.length ? `next ${moves[ply]}` : "the end";
    const last = ply > 0 ? `after ${moves[ply - 1]}, ` : "";
    words.textContent = `Ply ${ply} of ${moves.length}: ${last}${next}${value}${inHand(boards[ply])}`;
    board.setAttribute("aria-label", words.textContent);
  };
  const go = (to) => {
    ply = Math.max(0, Math.min(GAMES[game].moves.length, to));
    show();
  };
  for (const [label, to] of [["« start", () => 0], ["‹ back", () => ply - 1], ["next ›", () => ply + 1], ["end »", () => Infinity]]) {
    const button = document.createElement("button");
    button.textContent = label;
    button.addEventListener("click", () => go(to()));
    bar.append(button);
  }
  select.addEventListener("change", () => { game = +select.value; go(0); });
  root.tabIndex = 0;
  root.addEventListener("keydown", (event) => {
    if (event.target === select) return;
    if (event.key === "ArrowRight") go(ply + 1);
    if (event.key === "ArrowLeft") go(ply - 1);
  });
  show();
})();
