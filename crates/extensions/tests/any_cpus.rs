//! Malformed and changed descriptions of CPUs.
#[path = "fuzz/any_cpus.rs"]
mod any_cpus;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

const SEED: &[u8] = b"processor: 0\nhart isa: rv64imafdc_zba\n\nprocessor: 1\nhart isa: rv64imafdc\n\n\
    processor: 2\nisa: rv64imac\nmvendorid: 0x5b7\n\0[[cpus]]\nlist = \"1-2\"\nopcodes = [\"custom-0\"]\n\
    extensions = [\"xacme\"]\n\0i,zbb\0\x33\x65\xb5\x20\x33\x75\xb5\x40\x0b\0\0\0\xff\xff\xff\xff\x57\x70\0\x0d";

#[test]
fn nothing_that_is_malformed_is_a_crash() {
    any_cpus::read_any(b"");
    any_cpus::read_any(SEED);
    let mut random = Pcg64Mcg::new(21);
    for _ in 0..2000 {
        let mut bytes = SEED.to_vec();
        for _ in 0..1 + random.next_u32() % 4 {
            let at = random.next_u32() as usize % bytes.len();
            match random.next_u32() % 3 {
                0 => bytes[at] = random.next_u32() as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"\0\n\"=,-0z"[random.next_u32() as usize % 8]),
            }
        }
        any_cpus::read_any(&bytes);
    }
}
