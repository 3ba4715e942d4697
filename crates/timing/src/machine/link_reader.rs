//! Links between tiles: `[[link]]`.
use super::machine_parts::{Link, Tile, Topology};
use crate::platform::quantity::{FREQUENCY, FS_PER_S, SIZE, TIME};
use crate::platform::toml_reader::{Error, Table};

/// Reads all links.
pub fn links(root: &mut Table<'_>, tiles: &[Tile]) -> Result<Vec<Link>, Error> {
    let mut links: Vec<Link> = Vec::new();
    for mut table in root.tables("link")? {
        let link = link(&mut table, tiles)?;
        if links.iter().any(|other| other.name == link.name) {
            let why = format!("two links have the name {}", link.name);
            return Err(table.error("name", &why, "give one another name"));
        }
        table.end_with_source()?;
        links.push(link);
    }
    Ok(links)
}

fn link(table: &mut Table<'_>, tiles: &[Tile]) -> Result<Link, Error> {
    let line = table.line();
    let name = table.text("name")?;
    let mut places = Vec::new();
    let mut has_group = false;
    for (tile, at) in table.texts("tiles")? {
        // The name of a tile with a count stands for all of them.
        let is_of = |other: &Tile| {
            let number = other.name.strip_prefix(&tile);
            let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
            number.is_some_and(|rest| rest.is_empty() || is_number(rest))
        };
        let exact = tiles.iter().position(|other| other.name == tile);
        let found: Vec<usize> = match exact {
            Some(exact) => vec![exact],
            None => (0..tiles.len()).filter(|&n| is_of(&tiles[n])).collect(),
        };
        has_group |= exact.is_none();
        if found.is_empty() {
            let names: Vec<&str> = tiles.iter().map(|tile| &*tile.name).collect();
            let what = format!("`link.tiles`: the link goes to \"{tile}\", which is no tile");
            return Err(table.error_at(at, what, &flick_names::use_one_of(&tile, &names)));
        }
        if let Some(twice) = found.iter().find(|found| places.contains(*found)) {
            let what = format!("`link.tiles`: \"{}\" is there twice", tiles[*twice].name);
            return Err(table.error_at(at, what, "name it once"));
        }
        places.extend(found);
    }
    let shapes = ["point-to-point", "crossbar", "ring", "mesh", "torus"];
    let shape = table.choice_or("topology", &shapes, 0)?;
    let mut columns = 0;
    if shape >= 3 {
        columns = table.count("columns", (1, 1024))? as u32;
    }
    let is_complete = !table.lacks();
    let bad = |why: &str, help: &str| Err(table.error("tiles", why, help));
    // A tile with a count may be one by a setting, and its link connects nothing then.
    if is_complete && places.len() < 2 && !has_group {
        return bad("the link has one end", "name the tiles that it connects");
    }
    if is_complete && shape == 0 && places.len() != 2 {
        return bad(
            "point-to-point connects two tiles",
            "name two tiles, or use another topology: crossbar, ring, mesh, torus",
        );
    }
    if is_complete && shape >= 3 && !places.len().is_multiple_of(columns.max(1) as usize) {
        return bad(
            "the tiles do not fill the rows",
            "change `columns` to a divisor of their number",
        );
    }
    let period = match table.has("clock") || table.has("width") {
        true => FS_PER_S / table.quantity("clock", &FREQUENCY)?,
        false => 0.0,
    };
    Ok(Link {
        name,
        topology: match shape {
            0 => Topology::PointToPoint,
            1 => Topology::Crossbar,
            2 => Topology::Ring,
            3 => Topology::Mesh(columns),
            _ => Topology::Torus(columns),
        },
        tiles: places,
        latency: table.quantity("latency", &TIME)? as u64,
        width: table.quantity_or("width", &SIZE, 0.0)? as u64,
        period,
        line,
    })
}
