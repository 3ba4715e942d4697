//! How tables of calls are written, and what they say of each call.

/// Which hart executes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPlace {
    /// The caller's.
    Caller,
    /// The kernel hart.
    Kernel,
    /// The caller's, with the tile's data transfer unit. The kernel hart, if the call has to wait, and on
    /// tiles without a unit.
    Unit,
    /// The caller's if nobody has to wait, and else the kernel hart.
    Either,
}

/// The page of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallPage {
    /// The call's number.
    pub number: u64,
    /// Which hart executes it.
    pub place: CallPlace,
    /// Its name in C, without `flick_`.
    pub name: &'static str,
    /// Names and meanings of a0, a1, and so on.
    pub arguments: &'static [(&'static str, &'static str)],
    /// What a0 has, and a1 behind a semicolon.
    pub result: &'static str,
    /// Errors, and when they come.
    pub errors: &'static [(super::Error, &'static str)],
    /// What it does.
    pub text: &'static str,
}

/// A table of calls: an enumeration of them, and their pages.
macro_rules! calls {
    ($(#[doc = $what:literal])* $all:ident;
     $($name:ident = $number:literal, $c:literal, $place:ident;
       $($argument:literal: $meaning:literal),*; $result:literal;
       $($error:ident: $when:literal),*; $text:literal)*) => {
        $(#[doc = $what])*
        #[repr(u64)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $all {
            $(#[doc = $text] $name = $number,)*
        }

        impl $all {
            /// The call of a number.
            #[inline]
            pub const fn from_number(number: u64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Which hart executes it.
            #[inline]
            pub const fn place(self) -> $crate::card::CallPlace {
                match self {
                    $(Self::$name => $crate::card::CallPlace::$place,)*
                }
            }
        }

        pub(super) const PAGES: &[$crate::card::CallPage] = &[$($crate::card::CallPage {
            number: $number,
            place: $crate::card::CallPlace::$place,
            name: $c,
            arguments: &[$(($argument, $meaning)),*],
            result: $result,
            errors: &[$(($crate::card::Error::$error, $when)),*],
            text: $text,
        }),*];
    };
}

pub(super) use calls;
