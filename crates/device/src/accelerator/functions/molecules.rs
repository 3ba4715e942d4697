//! MD-KNN: the forces between each of 1,024 atoms and its 16 nearest neighbours, by the potential of Lennard and
//! Jones (MachSuite, md/knn; the number of atoms is that of M3x, section 7.5). A step is an atom.
use super::steps::{Array, Arrays, Role, Steps};
use crate::device::Refused;

const ATOMS: usize = 1024;
const NEIGHBOURS: usize = 16;
/// The constants of the potential, as MachSuite has them.
const REPULSION: f64 = 1.5;
const ATTRACTION: f64 = 2.0;

/// The number of the array of x; those of y and z follow.
const POSITION: usize = 0;
const NEIGHBOUR: usize = 3;
/// That of the forces in the direction of x.
const FORCE: usize = 4;

/// Neighbours are numbers of atoms. One that is none has no force.
pub(super) struct Molecules;

fn position(arrays: &mut dyn Arrays, atom: usize) -> Result<[f64; 3], Refused> {
    let mut position = [0.0; 3];
    for (axis, value) in position.iter_mut().enumerate() {
        *value = arrays.f64(POSITION + axis, atom)?;
    }
    Ok(position)
}

impl Steps for Molecules {
    fn arrays(&self) -> &'static [Array] {
        const {
            &[
                Array::of::<f64>("x", ATOMS, Role::Input),
                Array::of::<f64>("y", ATOMS, Role::Input),
                Array::of::<f64>("z", ATOMS, Role::Input),
                Array::of::<i32>("neighbours", ATOMS * NEIGHBOURS, Role::Input),
                Array::of::<f64>("force in x", ATOMS, Role::Output),
                Array::of::<f64>("force in y", ATOMS, Role::Output),
                Array::of::<f64>("force in z", ATOMS, Role::Output),
            ]
        }
    }

    fn steps(&self) -> u64 {
        ATOMS as u64
    }

    fn step(&self, number: u64, arrays: &mut dyn Arrays) -> Result<(), Refused> {
        let atom = number as usize;
        let own = position(arrays, atom)?;
        let mut force = [0.0; 3];
        for neighbour in atom * NEIGHBOURS..(atom + 1) * NEIGHBOURS {
            let neighbour = arrays.i32(NEIGHBOUR, neighbour)?;
            let Some(neighbour) = usize::try_from(neighbour).ok().filter(|&n| n < ATOMS) else {
                continue;
            };
            let other = position(arrays, neighbour)?;
            let distance: [f64; 3] = std::array::from_fn(|axis| own[axis] - other[axis]);
            let square: f64 = distance.iter().map(|part| part * part).sum();
            let inverse = 1.0 / square;
            let sixth = inverse * inverse * inverse;
            let strength = inverse * sixth * (REPULSION * sixth - ATTRACTION);
            for (sum, part) in force.iter_mut().zip(distance) {
                *sum += part * strength;
            }
        }
        for (axis, value) in force.into_iter().enumerate() {
            arrays.set_f64(FORCE + axis, atom, value)?;
        }
        Ok(())
    }
}
