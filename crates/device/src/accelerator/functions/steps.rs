//! Computations in steps over arrays: those of the paper's request accelerators (M3x, section 7.5). An activity can
//! be stopped between two steps.
use crate::accelerator::{Accelerator, Computed};
use crate::device::Refused;

/// What an array of a computation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The computation reads it.
    Input,
    /// It writes it, and may read what it has written.
    Output,
    /// What is in it is nobody else's.
    Work,
}

/// An array of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// For people.
    pub name: &'static str,
    /// Its bytes.
    pub size: usize,
    /// What it is for.
    pub role: Role,
}

impl Array {
    /// An array of so many items of type `T`.
    pub(super) const fn of<T>(name: &'static str, items: usize, role: Role) -> Self {
        Self {
            name,
            size: items * size_of::<T>(),
            role,
        }
    }
}

/// Where the arrays of a computation are, by their numbers.
pub trait Arrays {
    /// Reads bytes of an array.
    fn read(&mut self, array: usize, offset: usize, bytes: &mut [u8]) -> Result<(), Refused>;
    /// Writes bytes of an array.
    fn write(&mut self, array: usize, offset: usize, bytes: &[u8]) -> Result<(), Refused>;
}

impl dyn Arrays + '_ {
    fn item<const N: usize>(&mut self, array: usize, index: usize) -> Result<[u8; N], Refused> {
        let mut bytes = [0; N];
        self.read(array, index * N, &mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn f64(&mut self, array: usize, index: usize) -> Result<f64, Refused> {
        self.item(array, index).map(f64::from_le_bytes)
    }

    pub(super) fn i32(&mut self, array: usize, index: usize) -> Result<i32, Refused> {
        self.item(array, index).map(i32::from_le_bytes)
    }

    pub(super) fn set_f64(
        &mut self,
        array: usize,
        index: usize,
        value: f64,
    ) -> Result<(), Refused> {
        self.write(array, index * 8, &value.to_le_bytes())
    }

    pub(super) fn set_i32(
        &mut self,
        array: usize,
        index: usize,
        value: i32,
    ) -> Result<(), Refused> {
        self.write(array, index * 4, &value.to_le_bytes())
    }
}

/// A computation. A step that an access has ended can be made again from its start.
pub trait Steps {
    /// Its arrays: those of the input, of the output, and others.
    fn arrays(&self) -> &'static [Array];
    /// How many steps it has.
    fn steps(&self) -> u64;
    /// Makes a step, behind all those with lower numbers.
    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<(), Refused>;
}

fn bytes_of(arrays: &[Array], role: Role) -> usize {
    let own = arrays.iter().filter(|array| array.role == role);
    own.map(|array| array.size).sum()
}

/// A computation as an accelerator of streams. A block is the whole input, and the arrays lie one behind the other.
pub(super) struct WholeBlocks<S>(pub S);

/// The arrays one behind the other.
struct Local<'a> {
    arrays: &'static [Array],
    memory: &'a mut [u8],
}

impl Local<'_> {
    fn bytes(&mut self, array: usize, offset: usize, size: usize) -> Result<&mut [u8], Refused> {
        let own = self.arrays.get(array).ok_or(Refused)?;
        let start: usize = self.arrays[..array].iter().map(|array| array.size).sum();
        let memory = self.memory.get_mut(start..start + own.size);
        let bytes = memory.and_then(|memory| memory.get_mut(offset..)?.get_mut(..size));
        bytes.ok_or(Refused)
    }
}

impl Arrays for Local<'_> {
    fn read(&mut self, array: usize, offset: usize, bytes: &mut [u8]) -> Result<(), Refused> {
        bytes.copy_from_slice(self.bytes(array, offset, bytes.len())?);
        Ok(())
    }

    fn write(&mut self, array: usize, offset: usize, bytes: &[u8]) -> Result<(), Refused> {
        self.bytes(array, offset, bytes.len())?
            .copy_from_slice(bytes);
        Ok(())
    }
}

impl<S: Steps> Accelerator for WholeBlocks<S> {
    fn block(&self, memory: &mut [u8], size: usize, _is_last: bool) -> Computed {
        let arrays = self.0.arrays();
        let (input, output) = (
            bytes_of(arrays, Role::Input),
            bytes_of(arrays, Role::Output),
        );
        match size {
            0 => return Computed::bytes(0),
            _ if size != input => return Computed::FAILED,
            _ => {}
        }
        let mut local = Local { arrays, memory };
        if (0..self.0.steps()).any(|number| self.0.step(number, &mut local).is_err()) {
            return Computed::FAILED;
        }
        memory.copy_within(input..input + output, 0);
        Computed::bytes(output)
    }

    fn memory(&self, block: u64) -> u64 {
        let all = self.0.arrays().iter().map(|array| array.size as u64);
        block.max(all.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{COMPUTATIONS, by_name};
    use super::*;

    #[test]
    fn a_block_is_the_whole_input_and_memory_holds_all_arrays() {
        for (name, computation) in COMPUTATIONS {
            let arrays = computation.arrays();
            assert!(arrays.is_sorted_by_key(|array| array.role as u8), "{name}");
            let input = bytes_of(arrays, Role::Input);
            let logic = by_name(name).unwrap();
            let memory = logic.memory(input as u64);
            let all: usize = arrays.iter().map(|array| array.size).sum();
            assert_eq!(memory, all as u64);
            let mut memory = vec![0; all];
            assert_eq!(logic.block(&mut memory, 0, true), Computed::bytes(0));
            let failed = logic.block(&mut memory, input - 1, true);
            assert_eq!(failed, Computed::FAILED, "{name}");
            memory.truncate(all - 1);
            let failed = logic.block(&mut memory, input, true);
            assert_eq!(failed, Computed::FAILED, "{name}");
        }
    }

    /// Each array by itself.
    struct Apart(Vec<Vec<u8>>);

    impl Arrays for Apart {
        fn read(&mut self, array: usize, offset: usize, bytes: &mut [u8]) -> Result<(), Refused> {
            bytes.copy_from_slice(&self.0[array][offset..offset + bytes.len()]);
            Ok(())
        }

        fn write(&mut self, array: usize, offset: usize, bytes: &[u8]) -> Result<(), Refused> {
            self.0[array][offset..offset + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }

    #[test]
    fn input_is_not_written_and_steps_can_be_made_again() {
        for (name, computation) in COMPUTATIONS {
            let arrays = computation.arrays();
            let fill = |array: &Array| (0..array.size).map(|n| (n * 31 % 61) as u8).collect();
            let first: Vec<Vec<u8>> = arrays.iter().map(fill).collect();
            let (mut once, mut twice) = (Apart(first.clone()), Apart(first.clone()));
            for number in 0..computation.steps() {
                computation.step(number, &mut once).unwrap();
                computation.step(number, &mut twice).unwrap();
                computation.step(number, &mut twice).unwrap();
            }
            assert!(once.0 == twice.0, "{name}");
            let roles = arrays.iter().map(|array| array.role);
            for (number, role) in roles.enumerate() {
                let is_same = once.0[number] == first[number];
                assert_eq!(is_same, role == Role::Input, "{name}: array {number}");
            }
        }
    }
}
