//! What a program of the card finds at its start.

/// Version of [`ProgramStart`].
pub const START_VERSION: u64 = 1;

/// The record whose address the first thread of a program has in a0. Behind it are the texts. It is
/// in the program's own memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramStart {
    /// [`START_VERSION`].
    pub version: u64,
    /// Arguments, the program's name among them.
    pub arguments: u64,
    /// The address of the first one. Each ends with a zero byte, and the next one follows.
    pub text: u64,
    /// Bytes of all arguments.
    pub size: u64,
    /// The number of the tile that it runs on.
    pub tile: u64,
    /// Tiles of the machine that have a kernel.
    pub tiles: u64,
    /// Harts of the tile that run programs.
    pub harts: u64,
    /// Ticks of `time` in a second.
    pub frequency: u64,
    /// 0: caches are coherent. Else `cache_refresh` is needed before loads of what others have
    /// stored; and where this is 2, caches write back, behind stores that others shall load, too.
    pub incoherent: u64,
}

const _: () = assert!(size_of::<ProgramStart>() == 72);

/// Version of a record with an environment: behind it is the number of its texts, which follow the arguments.
pub const START_WITH_ENVIRONMENT: u64 = 3;

/// How the image of a program begins that another tile starts (`activity_start`). Behind it are the texts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramImage {
    /// [`IMAGE_VERSION`].
    pub version: u64,
    /// Arguments, the program's name among them.
    pub arguments: u64,
    /// Texts of the environment, which follow the arguments.
    pub environment: u64,
    /// Bytes of all texts, each with a zero byte behind it.
    pub texts: u64,
    /// Where the program's ELF file begins in the image.
    pub file: u64,
    /// Its bytes.
    pub size: u64,
}

/// Version of [`ProgramImage`]: it is no text, and no ELF file begins with it.
pub const IMAGE_VERSION: u64 = 0x0031_676d_696b_6c66;
/// Bytes of texts of an image, at most.
pub const MOST_TEXTS: u64 = 64 << 10;
/// Pages that the segments of an image take, at most.
pub const MOST_IMAGE_PAGES: u64 = 2048;

const _: () = assert!(size_of::<ProgramImage>() == 48);
