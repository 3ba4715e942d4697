//! Where NxP-local memory is, as the models of the platform ask for it.
use flick_engine::CodeRegion;
use flick_timing::Layout;

use super::{nxp_map, tile_cores};
use crate::heap::marks;
use crate::{memory, modules};

/// Where NxP-local memory is now.
pub fn layout(code: Option<&CodeRegion>) -> Layout {
    let image = code.and_then(|code| modules::image_range(code.base()));
    let image = image.unwrap_or_default();
    let (base, heap, size) = memory::nxp_region::parts();
    Layout {
        base: base as u64,
        heap: heap as u64,
        size: size as u64,
        image: image.start,
        image_size: image.end - image.start,
        tile_of: tile_cores::whose_memory(),
        is_data: nxp_map::has_data().then_some(is_data),
        marks: marks::marks(),
    }
}

fn is_data(address: u64) -> bool {
    memory::is_local(address as usize)
}
