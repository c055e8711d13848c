// Fairy-Stockfish's WebAssembly build (npm: fairy-stockfish-nnue.wasm) as a UCI engine on the standard streams.
//
//   node fairy_stockfish.cjs FOLDER_OF_THE_PACKAGE [FILE …]
//
// The engine sees no files of this machine; each FILE (a variants.ini, a net) is given to it under its own name:
//   setoption name VariantPath value /variants.ini
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");

// With Node's own fetch the loader would look for the program on the web instead of beside it.
delete globalThis.fetch;

const [folder, ...files] = process.argv.slice(2);
const load = require(path.resolve(folder, "stockfish.js"));

load().then((engine) => {
  for (const file of files) {
    engine.FS.writeFile("/" + path.basename(file), fs.readFileSync(file));
  }
  engine.addMessageListener((line) => process.stdout.write(line + "\n"));
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", (line) => (line.trim() === "quit" ? process.exit(0) : engine.postMessage(line)));
  lines.on("close", () => process.exit(0));
});
