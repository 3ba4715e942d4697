//! SHA-256 (FIPS 180-4) of a stream: the output is the digest, behind the last block.
use crate::accelerator::{Accelerator, Computed};

/// Bytes that the compression takes at a time.
const CHUNK: usize = 64;
/// Bytes of the digest.
const DIGEST: usize = 32;
/// What is kept from block to block, at the end of the local memory: bytes so far, the hash so far, and the start
/// of a chunk. All are 0 before the first block.
const STATE: usize = 8 + DIGEST + CHUNK;

/// The first 32 bits of the fractions of the square roots of the first 8 primes.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

pub(super) struct Sha256;

/// What is hashed so far.
struct Hash {
    bytes: u64,
    words: [u32; 8],
    /// The start of a chunk, of `bytes` modulo [`CHUNK`] bytes.
    chunk: [u8; CHUNK],
}

impl Hash {
    fn from_state(state: &[u8; STATE]) -> Self {
        let (bytes, rest) = state.split_at(8);
        let (words, chunk) = rest.split_at(DIGEST);
        let bytes = u64::from_le_bytes(std::array::from_fn(|n| bytes[n]));
        let word = |n: usize| u32::from_le_bytes(std::array::from_fn(|at| words[4 * n + at]));
        Self {
            bytes,
            words: match bytes {
                0 => START,
                _ => std::array::from_fn(word),
            },
            chunk: std::array::from_fn(|n| chunk[n]),
        }
    }

    fn to_state(&self, state: &mut [u8; STATE]) {
        let words = self.words.iter().flat_map(|word| word.to_le_bytes());
        let all = self.bytes.to_le_bytes().into_iter().chain(words);
        let all = all.chain(self.chunk);
        state.iter_mut().zip(all).for_each(|(to, from)| *to = from);
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let at = (self.bytes % CHUNK as u64) as usize;
            self.chunk[at] = byte;
            self.bytes = self.bytes.wrapping_add(1);
            if at + 1 == CHUNK {
                compress(&mut self.words, &self.chunk);
            }
        }
    }

    /// The digest of all bytes.
    fn finish(mut self) -> [u8; DIGEST] {
        let bits = self.bytes.wrapping_mul(8);
        self.add(&[0x80]);
        while self.bytes % CHUNK as u64 != CHUNK as u64 - 8 {
            self.add(&[0]);
        }
        self.add(&bits.to_be_bytes());
        std::array::from_fn(|n| self.words[n / 4].to_be_bytes()[n % 4])
    }
}

/// The compression of a chunk (section 6.2.2).
fn compress(hash: &mut [u32; 8], chunk: &[u8; CHUNK]) {
    let mut words = [0_u32; 64];
    for (n, word) in words.iter_mut().take(16).enumerate() {
        *word = u32::from_be_bytes(std::array::from_fn(|at| chunk[4 * n + at]));
    }
    for n in 16..64 {
        let (early, late) = (words[n - 15], words[n - 2]);
        let early = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let late = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        words[n] = words[n - 16]
            .wrapping_add(early)
            .wrapping_add(words[n - 7])
            .wrapping_add(late);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *hash;
    for (word, constant) in words.into_iter().zip(ROUNDS) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first = h
            .wrapping_add(sum)
            .wrapping_add(choice)
            .wrapping_add(constant)
            .wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        let second = sum.wrapping_add(majority);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, add) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
}

impl Accelerator for Sha256 {
    fn block(&self, memory: &mut [u8], size: usize, is_last: bool) -> Computed {
        let Some((block, state)) = memory.split_last_chunk_mut::<STATE>() else {
            return Computed::FAILED;
        };
        let Some(bytes) = block.get(..size) else {
            return Computed::FAILED;
        };
        let mut hash = Hash::from_state(state);
        hash.add(bytes);
        if !is_last {
            hash.to_state(state);
            return Computed::bytes(0);
        }
        let digest = hash.finish();
        state.fill(0);
        let Some(output) = block.first_chunk_mut::<DIGEST>() else {
            return Computed::FAILED;
        };
        *output = digest;
        Computed::bytes(DIGEST)
    }

    fn memory(&self, block: u64) -> u64 {
        block.max(DIGEST as u64).saturating_add(STATE as u64)
    }
}
