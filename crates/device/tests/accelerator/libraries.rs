//! What the accelerators that come with Flick compute, against well-kept libraries; and against the definition where
//! there is none.
use flick_device::accelerator::{Computed, functions};
use ndarray::{Array3, s};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{RngCore, SeedableRng};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use sha2::{Digest, Sha256};
use sprs::CsMat;

/// The output for an input, in a local memory of the least size.
fn compute(name: &str, input: &[u8]) -> Vec<u8> {
    let logic = functions::by_name(name).unwrap();
    let mut memory = vec![0; logic.memory(input.len() as u64) as usize];
    memory[..input.len()].copy_from_slice(input);
    let Computed { size, cycles } = logic.block(&mut memory, input.len(), true);
    assert_eq!(cycles, None, "the machine file has the cycles");
    memory.truncate(size);
    memory
}

/// Numbers from -1 to 1.
fn numbers(random: &mut Pcg64, count: usize) -> Vec<f64> {
    let number = |_| random.next_u64() as i64 as f64 / 2_f64.powi(63);
    (0..count).map(number).collect()
}

fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    let (numbers, rest) = bytes.as_chunks();
    assert_eq!(rest, [0; 0]);
    numbers
        .iter()
        .map(|bytes| f64::from_le_bytes(*bytes))
        .collect()
}

fn assert_near(found: f64, wanted: f64, size: f64) {
    assert!(
        (found - wanted).abs() <= 1e-12 * size,
        "{found} and {wanted}"
    );
}

#[test]
fn sha256_gives_the_digests_of_sha2_however_the_stream_is_cut() {
    let mut random = Pcg64::seed_from_u64(1);
    let mut bytes = vec![0; 1000];
    random.fill_bytes(&mut bytes);
    let logic = functions::by_name("sha256").unwrap();
    for size in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000] {
        for block in [1, 32, 64, 100, 512] {
            let mut memory = vec![0; logic.memory(block as u64) as usize];
            // Twice: the next stream begins anew.
            for stream in [&bytes[..size], &bytes[bytes.len() - size..]] {
                let (whole, last) = stream.split_at(size / block * block);
                for part in whole.chunks(block) {
                    memory[..block].copy_from_slice(part);
                    let computed = logic.block(&mut memory, block, false);
                    assert_eq!(computed, Computed::bytes(0));
                }
                memory[..last.len()].copy_from_slice(last);
                let computed = logic.block(&mut memory, last.len(), true);
                assert_eq!(computed, Computed::bytes(32));
                let wanted = Sha256::digest(stream);
                assert_eq!(memory[..32], wanted[..], "{size} by {block}");
            }
        }
    }
    // A local memory without room for what is kept.
    assert_eq!(logic.block(&mut [0; 64], 64, true), Computed::FAILED);
}

#[test]
fn fft1d_gives_the_transform_of_rustfft() {
    let points = numbers(&mut Pcg64::seed_from_u64(2), 2 * 16_384);
    let mut wanted: Vec<_> = points
        .chunks(2)
        .map(|part| Complex::new(part[0], part[1]))
        .collect();
    FftPlanner::new()
        .plan_fft_forward(wanted.len())
        .process(&mut wanted);
    let found = f64s(&compute("fft1d", &bytes_of(&points)));
    assert_eq!(found.len(), points.len());
    for (found, wanted) in found.chunks(2).zip(wanted) {
        assert_near(found[0], wanted.re, 1000.0);
        assert_near(found[1], wanted.im, 1000.0);
    }
}

#[test]
fn fft_gives_the_transform_of_rustfft_by_rows_and_columns() {
    let points: Vec<f32> = numbers(&mut Pcg64::seed_from_u64(3), 2 * 256)
        .into_iter()
        .map(|number| number as f32)
        .collect();
    let bytes: Vec<u8> = points
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let mut wanted: Vec<_> = points
        .chunks(2)
        .map(|part| Complex::new(part[0], part[1]))
        .collect();
    let transform = FftPlanner::new().plan_fft_forward(16);
    for _ in 0..2 {
        transform.process(&mut wanted);
        let columns = |n: usize| wanted[16 * (n % 16) + n / 16];
        wanted = (0..256).map(columns).collect();
    }
    let found = compute("fft", &bytes);
    assert_eq!(found.len(), bytes.len());
    for (found, wanted) in found.as_chunks::<4>().0.chunks(2).zip(wanted) {
        let [re, im] = [found[0], found[1]].map(f32::from_le_bytes);
        assert!((re - wanted.re).abs() < 1e-4 && (im - wanted.im).abs() < 1e-4);
    }
}

#[test]
fn spmv_gives_the_product_of_sprs() {
    const ROWS: usize = 2048;
    const ENTRIES: usize = 39_321;
    let mut random = Pcg64::seed_from_u64(4);
    // Rows of all sizes: each entry is in a row of its own choice, and in columns that ascend.
    let mut starts = vec![0_usize; ROWS + 1];
    for _ in 0..ENTRIES {
        starts[1 + random.next_u64() as usize % ROWS] += 1;
    }
    for row in 0..ROWS {
        starts[row + 1] += starts[row];
    }
    let mut columns = Vec::new();
    for row in 0..ROWS {
        let first = random.next_u64() as usize % 1024;
        columns.extend(
            (starts[row]..starts[row + 1])
                .enumerate()
                .map(|(n, _)| first + 13 * n),
        );
    }
    let values = numbers(&mut random, ENTRIES);
    let vector = numbers(&mut random, ROWS);
    let mut input = bytes_of(&values);
    for number in columns.iter().chain(&starts) {
        input.extend((*number as i32).to_le_bytes());
    }
    input.extend(bytes_of(&vector));
    let found = f64s(&compute("spmv", &input));
    let matrix = CsMat::new((ROWS, ROWS), starts, columns, values);
    let mut wanted = vec![0.0; ROWS];
    sprs::prod::mul_acc_mat_vec_csr(matrix.view(), &vector[..], &mut wanted[..]);
    assert_eq!(found.len(), ROWS);
    for (found, wanted) in found.into_iter().zip(wanted) {
        assert_near(found, wanted, 100.0);
    }
    // A column that there is not, and rows whose starts are no order, leave the program alive.
    input
        .iter_mut()
        .skip(8 * ENTRIES)
        .for_each(|byte| *byte ^= 0xa5);
    assert_eq!(compute("spmv", &input).len(), 8 * ROWS);
}

#[test]
fn stencil_gives_the_sums_of_shifted_grids() {
    let mut random = Pcg64::seed_from_u64(5);
    let mut number = || random.next_u32() as i32;
    let weights = [number(), number()];
    let grid = Array3::from_shape_simple_fn((32, 32, 64), number);
    let all = weights.iter().chain(&grid);
    let input: Vec<u8> = all.flat_map(|number| number.to_le_bytes()).collect();
    let mut wanted = grid.clone();
    let shifted = [
        s![..30, 1..31, 1..63],
        s![2.., 1..31, 1..63],
        s![1..31, ..30, 1..63],
        s![1..31, 2.., 1..63],
        s![1..31, 1..31, ..62],
        s![1..31, 1..31, 2..],
    ];
    wanted
        .slice_mut(s![1..31, 1..31, 1..63])
        .mapv_inplace(|own| own.wrapping_mul(weights[0]));
    for shift in shifted {
        let mut inner = wanted.slice_mut(s![1..31, 1..31, 1..63]);
        inner.zip_mut_with(&grid.slice(shift), |sum, other| {
            *sum = sum.wrapping_add(other.wrapping_mul(weights[1]));
        });
    }
    let found = compute("stencil", &input);
    let found = found
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i32::from_le_bytes(*bytes));
    assert!(found.eq(wanted.iter().copied()));
}

/// No library has these forces: they are the slope of the potential.
#[test]
fn md_gives_the_slope_of_the_potential() {
    const ATOMS: usize = 1024;
    const NEIGHBOURS: usize = 16;
    let mut random = Pcg64::seed_from_u64(6);
    // At places of a lattice, so that no two atoms meet.
    let mut position = |n: usize| {
        let near = numbers(&mut random, 3);
        let place = [n % 10, n / 10 % 10, n / 100];
        std::array::from_fn(|axis| 2.0 * place[axis] as f64 + 0.3 * near[axis])
    };
    let positions: Vec<[f64; 3]> = (0..ATOMS).map(&mut position).collect();
    // In place of the nearest: some. The last of them is none.
    let neighbour = |n: usize| match n % NEIGHBOURS {
        15 => -1,
        near => ((n / NEIGHBOURS + [1, 10, 100][near % 3] * (1 + near / 3)) % ATOMS) as i32,
    };
    let neighbours: Vec<i32> = (0..ATOMS * NEIGHBOURS).map(neighbour).collect();
    let mut input = Vec::new();
    for axis in 0..3 {
        input.extend(
            positions
                .iter()
                .flat_map(|position| position[axis].to_le_bytes()),
        );
    }
    input.extend(neighbours.iter().flat_map(|number| number.to_le_bytes()));
    let found = f64s(&compute("md", &input));
    assert_eq!(found.len(), 3 * ATOMS);
    for atom in 0..ATOMS {
        let own = &neighbours[atom * NEIGHBOURS..][..NEIGHBOURS - 1];
        let potential = |at: [f64; 3]| -> f64 {
            let of = |&neighbour: &i32| {
                let other = positions[neighbour as usize];
                let square: f64 = (0..3).map(|axis| (at[axis] - other[axis]).powi(2)).sum();
                1.5 / 12.0 / square.powi(6) - 2.0 / 6.0 / square.powi(3)
            };
            own.iter().map(of).sum()
        };
        for axis in 0..3 {
            let moved = |by: f64| {
                let mut at = positions[atom];
                at[axis] += by;
                potential(at)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let force = found[axis * ATOMS + atom];
            assert!(
                (force + slope).abs() < 1e-6 * (1.0 + force.abs()),
                "{atom}: {force}, {slope}"
            );
        }
    }
}
