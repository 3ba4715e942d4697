//! Removes block parameters that always have one value.
use super::{Aliases, incoming, retain_params};
use crate::code::Code;

/// Replaces parameters all of whose arguments are one value.
pub fn remove_single(code: &mut Code) {
    let incoming = incoming(code);
    let mut aliases = Aliases::new(code);
    loop {
        let mut changed = false;
        for (params, ways) in code.params.iter().zip(&incoming) {
            for (n, param) in params.iter().enumerate() {
                let param = param.vreg();
                if aliases.is_replaced(param) {
                    continue;
                }
                let mut one = None;
                let mut many = false;
                for &(pred, succ) in ways {
                    let arg = aliases.find(code.args[pred][succ][n].vreg());
                    if arg == param || one == Some(arg) {
                        continue;
                    }
                    many = one.is_some();
                    one = Some(arg);
                    if many {
                        break;
                    }
                }
                if let (Some(one), false) = (one, many) {
                    aliases.replace(param, one);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    aliases.apply(code);
    retain_params(code, |param| !aliases.is_replaced(param.vreg()));
}
