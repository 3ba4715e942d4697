//! Structs and unions: sizes from empty to far beyond what registers hold, members of every class,
//! arrays, bit-fields, packed and overaligned ones.
use crate::draw::Draw;
use crate::generated_program::{Language, Program};
use crate::types::{Aggregate, Field, Scalar, Type};

pub fn add(program: &mut Program, draw: &mut Draw) {
    for _ in 0..draw.range(2, 7) {
        let aggregate = aggregate(program, draw);
        program.aggregates.push(aggregate);
    }
}

fn aggregate(program: &Program, draw: &mut Draw) -> Aggregate {
    // Mostly up to 16 bytes, where the classes are; a few large ones.
    let count = draw.weighted(&[(3, 0), (25, 1), (30, 2), (20, 3), (12, 4), (6, 6), (4, 11)]);
    // Members of one kind make the classes that mixtures hide: two floats, three bytes, …
    let uniform = draw.chance(30).then(|| draw.pick(&Scalar::ALL));
    let uniform = uniform.filter(|scalar| known(*scalar, program.language));
    let fields: Vec<Field> = (0..count).map(|_| field(program, uniform, draw)).collect();
    let union_of = (!fields.is_empty() && draw.chance(20)).then(|| draw.below(fields.len()));
    Aggregate {
        union_of,
        packed: draw.chance(12),
        align: draw.chance(10).then(|| draw.pick(&[2, 8, 16, 32, 64])),
        fields,
    }
}

fn field(program: &Program, uniform: Option<Scalar>, draw: &mut Draw) -> Field {
    let inner = program.aggregates.len();
    if uniform.is_none() && inner > 0 && draw.chance(12) {
        return Field {
            ty: Type::Aggregate(draw.below(inner)),
            array: draw.chance(20).then(|| draw.range(1, 2)),
            bits: None,
        };
    }
    let scalar = uniform.unwrap_or_else(|| scalar(program.language, draw));
    let bits = match scalar.bits() {
        Some(width) if draw.chance(15) => Some(draw.range(1, width)),
        _ => None,
    };
    let array = (bits.is_none() && draw.chance(15)).then(|| draw.range(1, 5));
    Field {
        ty: Type::Scalar(scalar),
        array,
        bits,
    }
}

/// Those that Flick refuses are rarer, so that they do not keep most functions on the host.
pub fn scalar(language: Language, draw: &mut Draw) -> Scalar {
    use Scalar as S;
    let drawn = draw.weighted(&[
        (4, S::Bool),
        (6, S::I8),
        (6, S::U8),
        (6, S::I16),
        (6, S::U16),
        (10, S::I32),
        (8, S::U32),
        (8, S::I64),
        (10, S::U64),
        (3, S::I128),
        (10, S::Float),
        (10, S::Double),
        (1, S::LongDouble),
        (2, S::ComplexFloat),
        (2, S::ComplexDouble),
        (4, S::Enum),
        (6, S::Pointer),
        (1, S::IntVector),
        (2, S::FloatVector),
        (2, S::DoubleVector),
        (1, S::ShortVector),
        (3, S::Half),
        (2, S::MemberData),
        (3, S::MemberFunction),
    ]);
    if known(drawn, language) {
        drawn
    } else {
        S::U64
    }
}

fn known(scalar: Scalar, language: Language) -> bool {
    language == Language::Cxx || !scalar.is_member()
}
