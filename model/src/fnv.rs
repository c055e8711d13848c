//! The 64-bit FNV-1a hash <http://www.isthe.com/chongo/tech/comp/fnv/>, written out because its values are stored in
//! files, or decide what a run does after a restart, and must never change with a library.

/// A hash that grows by bytes, or by larger numbers taken as one.
#[derive(Clone, Copy, Debug)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// The hash of nothing.
    pub const fn new() -> Fnv1a {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in a byte, or a larger number as one.
    pub fn add(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x0100_0000_01b3);
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Fnv1a::new();
        bytes.iter().for_each(|&byte| hash.add(byte.into()));
        hash.value()
    }
}

impl Default for Fnv1a {
    fn default() -> Fnv1a {
        Fnv1a::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Fnv1a;

    /// Values from the page named above.
    #[test]
    fn known_values() {
        assert_eq!(Fnv1a::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv1a::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv1a::of(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
