//! The tree below one of its nodes as a tree of its own.

use super::tree::{NodeId, ROOT, Tree};

impl Tree {
    /// Makes an expanded node the root and drops everything that is not below it, in place.
    ///
    /// Assumed draws go too: the earlier occurrence may now lie in the game's past, where a second one is no draw yet.
    /// They come back where they still hold.
    ///
    /// # Panics
    /// If the node has no moves.
    pub fn reroot(&mut self, root: NodeId) {
        assert!(
            !self.edges(root).is_empty(),
            "a root has moves; node {root} has none"
        );
        let new_ids = self.new_ids(root);
        let (mut nodes, mut edges) = (0, 0);
        for old in 0..self.nodes.len() {
            if new_ids[old].is_none() {
                continue;
            }
            let (first, count) = {
                let node = &self.nodes[old];
                (node.first_edge as usize, node.edge_count as usize)
            };
            assert!(
                count == 0 || first >= edges,
                "edges lie in the order of nodes: those of {old} at {first}, not after {edges}"
            );
            for index in 0..count {
                let mut edge = self.edges[first + index];
                edge.child = edge.child.and_then(|child| new_ids[child as usize]);
                self.edges[edges + index] = edge;
            }
            self.nodes.swap(nodes, old);
            self.nodes[nodes].first_edge = edges as u32;
            self.positions[nodes] = self.positions[old];
            nodes += 1;
            edges += count;
        }
        self.nodes.truncate(nodes);
        self.positions.truncate(nodes);
        self.edges.truncate(edges);
    }

    /// For every node its index in the new tree, `None` if it has no place there.
    fn new_ids(&self, root: NodeId) -> Vec<Option<NodeId>> {
        let mut new_ids = vec![None; self.nodes.len()];
        let mut next = ROOT;
        let mut keep = vec![false; self.nodes.len()];
        keep[root as usize] = true;
        // A child has a greater index than its parent, so one pass reaches all descendants.
        for id in root..self.nodes.len() as NodeId {
            if !keep[id as usize] {
                continue;
            }
            new_ids[id as usize] = Some(next);
            next += 1;
            for child in self.edges(id).iter().filter_map(|edge| edge.child) {
                keep[child as usize] = !self.node(child).assumed_draw;
            }
        }
        new_ids
    }
}
