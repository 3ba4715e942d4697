//! The table of codes, and the enum that is made from it.
use core::fmt;

/// How a message with a code begins: `flick: error:`, `flick: warning:` or `flick: note:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The command or the program does not go on.
    Error,
    /// The work goes on.
    Warning,
    /// The message follows the error of another tool.
    Note,
}

impl Severity {
    /// The word of the message.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// When a message with a code is usual. The first digits of the code are the stage's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// `FLK01xx`: any command, about its options, tools and files.
    Command = 1,
    /// `FLK02xx`: `flick cc` and its compiler pass, about placements and placed functions.
    Compile = 2,
    /// `FLK03xx`: the link, and the commands that read its objects and images.
    Link = 3,
    /// `FLK04xx`: the runtime, while a program or library starts.
    Start = 4,
    /// `FLK05xx`: the runtime, while NxP code runs.
    Run = 5,
    /// `FLK06xx`: `flick machine`, about machines and what runs on them.
    Machine = 6,
}

impl Stage {
    /// The word of the table in `docs/formats.md`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Command => "a command",
            Self::Compile => "the compile",
            Self::Link => "the link",
            Self::Start => "the start",
            Self::Run => "the run",
            Self::Machine => "a machine",
        }
    }
}

/// Makes the enum and its functions from rows `NUMBER VARIANT SEVERITY STAGE TITLE`. The title
/// stands in the code's documentation and on its page, and is a fragment.
macro_rules! codes {
    ($($text:literal $number:literal $code:ident $severity:ident $stage:ident $title:literal;)*) => {
        /// The code of a message, `FLKnnnn`. Its page is `docs/errors/FLKnnnn.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Code {
            $(
                #[doc = concat!($text, ": ", $title, ".")]
                $code = $number,
            )*
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// As messages have it: `FLK0202`.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)*
                }
            }

            /// The title of the code's page, a fragment without a full stop.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$code => $title,)*
                }
            }

            /// How bad it usually is. `FLK0103` and `FLK0105` are warnings where the work goes on.
            /// `FLK0503` is an error where a thread gets no NxP stack: the program ends.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$code => Severity::$severity,)*
                }
            }

            /// What usually reports it.
            pub const fn stage(self) -> Stage {
                match self {
                    $(Self::$code => Stage::$stage,)*
                }
            }

            /// The variant's name, in capitals: `INLINE_ASSEMBLY`, for `FLICK_CODE_INLINE_ASSEMBLY`
            /// in C and C++.
            pub const fn c_name(self) -> CName {
                match self {
                    $(Self::$code => CName(stringify!($code)),)*
                }
            }
        }
    };
}

codes! {
    "FLK0101" 101 UnhandledOption Error Command "option not handled";
    "FLK0102" 102 MissingTool Error Command "a required tool is missing";
    "FLK0103" 103 FailedTool Error Command "a tool that Flick calls failed";
    "FLK0104" 104 BadOption Error Command "a Flick option has a bad value";
    "FLK0105" 105 FileAccess Error Command "a file cannot be read or written";
    "FLK0106" 106 InternalCrash Error Command "a crash that is not your program's fault";
    "FLK0111" 111 UnusablePlatform Error Command "the platform cannot be used";
    "FLK0112" 112 NothingToAdvise Error Command "there is nothing to advise on";
    "FLK0113" 113 NoExtensions Error Command "the CPUs of this host are not RISC-V";
    "FLK0114" 114 UnwatchedProgram Error Command "a program cannot be watched";
    "FLK0115" 115 CpuDescription Error Command "a description of CPUs cannot be used";
    "FLK0116" 116 SweepFile Error Command "the sweep cannot be used";
    "FLK0117" 117 SweepPoints Error Command "points of a sweep have failed";
    "FLK0118" 118 CannotVerify Error Command "the advice cannot be verified";
    "FLK0201" 201 ContradictoryPlacement Error Compile "contradictory placement";
    "FLK0202" 202 InlineAssembly Error Compile "inline assembly in a placed function";
    "FLK0203" 203 X86Intrinsic Error Compile "an intrinsic that only x86-64 has";
    "FLK0204" 204 LongDouble Error Compile "`long double`";
    "FLK0205" 205 UncoveredSignature Error Compile "the function's own signature is not covered by the crossing";
    "FLK0206" 206 UncoveredCall Error Compile "a call in its body is not covered by the crossing";
    "FLK0208" 208 ReturnsTwice Error Compile "calls a function that returns twice (`vfork`, …)";
    "FLK0209" 209 PlacementSyntax Error Compile "placement file syntax";
    "FLK0210" 210 UnmatchedEntry Error Compile "a placement entry matches nothing";
    "FLK0211" 211 UnwindingByHand Error Compile "unwinding by hand";
    "FLK0212" 212 NoRv64Form Error Compile "something else that has no RV64 form";
    "FLK0214" 214 MisplacedMark Error Compile "`FLICK_NXP_DATA` where it cannot be";
    "FLK0215" 215 MarkedDeclaration Warning Compile "a mark on a declaration only";
    "FLK0216" 216 NoRequest Error Compile "`FLICK_ON` on a function that is no request";
    "FLK0301" 301 PlainLink Error Link "a fat object was linked without flick";
    "FLK0302" 302 CorruptedObject Error Link "a fat object is truncated or corrupted";
    "FLK0303" 303 OtherVersion Error Link "made by another version of Flick";
    "FLK0304" 304 OtherMachine Error Link "an object for another machine";
    "FLK0305" 305 FailedNxpLink Error Link "the NxP code does not link";
    "FLK0306" 306 UnsupportedInImage Error Link "NxP code needs what the image cannot hold";
    "FLK0307" 307 NoNxpCode Error Link "no NxP code in this file";
    "FLK0308" 308 CorruptedImage Error Link "the image in this file is corrupted";
    "FLK0309" 309 InconsistentInline Warning Link "an inline function is placed in one unit and not in another";
    "FLK0310" 310 FailedLink Note Link "what a failed link has to do with NxP code";
    "FLK0311" 311 WrongTranslation Error Link "the translation in this file is wrong";
    "FLK0401" 401 ModuleVersion Error Start "a module's version and the runtime's differ";
    "FLK0402" 402 UnreservedMemory Error Start "NxP-local memory cannot be reserved";
    "FLK0403" 403 RequiredOffload Error Start "offload is required but the program would run on the host";
    "FLK0404" 404 BadEnvironment Error Start "an environment variable has a bad value";
    "FLK0405" 405 SecondRuntime Error Start "a second Flick runtime in the process";
    "FLK0406" 406 Untranslatable Error Start "NxP code cannot be translated";
    "FLK0407" 407 UnshownCode Warning Start "code cannot be shown to gdb";
    "FLK0408" 408 NoCard Error Start "there is no card for NxP code";
        "FLK0501" 501 NxpFault Error Run "NxP code faulted";
    "FLK0502" 502 StackOverflow Error Run "NxP stack overflow";
    "FLK0503" 503 ExhaustedMemory Warning Run "NxP-local memory is exhausted";
    "FLK0504" 504 SwitchedStacks Error Run "stacks were switched under NxP frames";
    "FLK0505" 505 MalformedCall Error Run "a call that the runtime does not understand";
    "FLK0506" 506 ForeignUnwind Error Run "an exception came up to NxP code that cannot be unwound";
    "FLK0507" 507 ChangedRegisters Error Run "a signal handler changed the registers of NxP code";
    "FLK0508" 508 DeviceAccess Warning Run "an access that relies on what no device gives";
    "FLK0509" 509 CardFailed Error Run "the card has failed";
    "FLK0510" 510 TooManyOwners Error Run "too many threads are on the card";
    "FLK0511" 511 NoCpuForInstruction Warning Run "no CPU for an instruction";
    "FLK0512" 512 NoSuchTile Error Run "the machine has no tile of this name";
    "FLK0513" 513 AcceleratorFailed Error Run "an accelerator has failed";
    "FLK0601" 601 MachineSetting Error Machine "a setting of the machine is bad";
    "FLK0602" 602 MachineStart Error Machine "the machine cannot start";
    "FLK0603" 603 MachineEnd Error Machine "the machine has not ended";
    "FLK0610" 610 MachineFile Error Machine "a machine file cannot be used";
    "FLK0611" 611 MachineSnapshot Error Machine "a snapshot is unusable";
    "FLK0612" 612 MachineRecording Error Machine "a recording is unusable";
    "FLK0613" 613 MachineDebugger Error Machine "no debugger can connect";
    "FLK0620" 620 MachineParts Error Machine "the machine has parts that cannot run yet";
    "FLK0630" 630 MachineFaults Error Machine "a file of faults cannot be used";
    "FLK0640" 640 MachineUnits Error Machine "units of the machine broke a promise";
}

impl Code {
    /// The digits of the code.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// The code with these digits.
    ///
    /// ```
    /// use flick_diagnostics::Code;
    ///
    /// assert_eq!(Code::of_number(202), Some(Code::InlineAssembly));
    /// assert_eq!(Code::of_number(299), None);
    /// ```
    pub fn of_number(number: u16) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.number() == number)
    }

    /// The code that is written `FLKnnnn`.
    ///
    /// ```
    /// use flick_diagnostics::Code;
    ///
    /// assert_eq!(Code::of_text("FLK0202"), Some(Code::InlineAssembly));
    /// assert_eq!(Code::of_text("202"), None);
    /// ```
    pub fn of_text(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.text() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// A variant's name as C has it ([`Code::c_name`]).
#[derive(Clone, Copy)]
pub struct CName(&'static str);

impl fmt::Display for CName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for (at, letter) in self.0.char_indices() {
            if at > 0 && letter.is_ascii_uppercase() {
                f.write_char('_')?;
            }
            f.write_char(letter.to_ascii_uppercase())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::format;
    use std::string::ToString;

    use super::*;

    #[test]
    fn numbers_texts_and_stages_agree() {
        assert!(Code::ALL.is_sorted());
        for &code in Code::ALL {
            assert_eq!(code.text(), format!("FLK{:04}", code.number()));
            assert_eq!(code.number() / 100, code.stage() as u16, "{code}");
            assert_eq!(Code::of_number(code.number()), Some(code));
            assert_eq!(Code::of_text(code.text()), Some(code));
        }
    }

    #[test]
    fn names_in_capitals() {
        assert_eq!(Code::InlineAssembly.c_name().to_string(), "INLINE_ASSEMBLY");
        assert_eq!(Code::NoRv64Form.c_name().to_string(), "NO_RV64_FORM");
    }
}
