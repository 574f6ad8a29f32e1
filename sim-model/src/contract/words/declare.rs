//! How a word is declared.

/// A word with named parts: its value, and something for each of its parts.
macro_rules! word {
    (
        $(#[doc = $about:literal])+
        $word:ident as $parts:ident {
            $($(#[doc = $doc:literal])+ $part:ident: $kind:ty,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $word {
            $($(#[doc = $doc])+ pub $part: $kind,)+
        }

        #[doc = concat!("Something for each part of a [`", stringify!($word), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $parts<T> {
            $($(#[doc = $doc])+ pub $part: T,)+
        }

        impl<T> $parts<T> {
            /// Something else for each part, made in the order of the declaration.
            pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> $parts<U> {
                $parts { $($part: make(self.$part),)+ }
            }

            /// All of them, in the order of the declaration.
            pub fn into_array(self) -> [T; [$(stringify!($part)),+].len()] {
                [$(self.$part),+]
            }
        }

        impl $crate::contract::words::Word for $word {
            fn numbers(self) -> Vec<i64> {
                vec![$($crate::contract::words::Part::number(self.$part)),+]
            }

            fn from_numbers(numbers: impl IntoIterator<Item = i64>) -> Self {
                let mut numbers = numbers.into_iter();
                Self {
                    $($part: $crate::contract::words::Part::from_number(numbers.next().unwrap_or(0)),)+
                }
            }
        }
    };
}

/// A field of a declared part.
macro_rules! field {
    ($part:ident, $kind:ty, $word:expr, $low:expr, $bits:expr, $($doc:literal),+) => {
        $crate::contract::words::Field {
            name: stringify!($part),
            word: $word,
            low: $low,
            bits: $bits,
            signed: <$kind as $crate::contract::words::Part>::SIGNED,
            doc: concat!($($doc),+).trim_ascii(),
            values: <$kind as $crate::contract::words::Part>::VALUES,
            parts: <$kind as $crate::contract::words::Part>::PARTS,
        }
    };
}

/// Words of registers: each part with its lowest bit and its width.
macro_rules! register_words {
    ($(
        $(#[doc = $about:literal])+
        $word:ident as $parts:ident {
            $($(#[doc = $doc:literal])+ $part:ident: $kind:ty = ($low:expr, $bits:expr),)+
        }
    )+) => {
        $(
            word! { $(#[doc = $about])+ $word as $parts { $($(#[doc = $doc])+ $part: $kind,)+ } }

            impl $word {
                /// Where its parts are.
                pub const LAYOUT: $parts<$crate::contract::words::Field> =
                    $parts { $($part: field!($part, $kind, 0, $low, $bits, $($doc),+),)+ };
            }

            impl $crate::contract::words::RegisterWord for $word {
                const FIELDS: &'static [$crate::contract::words::Field] = &[$(Self::LAYOUT.$part),+];
            }
        )+
    };
}

/// Items of windows: each part with its word, its lowest bit in it and its width, in terms of the configuration and its
/// numbers.
macro_rules! items {
    ($(
        $(#[doc = $about:literal])+
        $word:ident as $parts:ident in $window:ident, |$config:ident, $numbers:ident| {
            $($(#[doc = $doc:literal])+ $part:ident: $kind:ty = ($at:expr, $low:expr, $bits:expr),)+
        }
    )+) => {
        $(
            word! { $(#[doc = $about])+ $word as $parts { $($(#[doc = $doc])+ $part: $kind,)+ } }

            impl $word {
                /// Where its parts are in a configuration.
                pub fn layout($config: &Config) -> $parts<$crate::contract::words::Field> {
                    let $numbers = $config.profile.numbers();
                    // Not every item needs both.
                    let _ = ($config, $numbers);
                    $parts { $($part: field!($part, $kind, $at, $low, $bits, $($doc),+),)+ }
                }
            }

            impl $crate::contract::words::Item for $word {
                const WINDOW: WindowName = WindowName::$window;
                const DOC: &'static str = concat!($($about),+).trim_ascii();

                fn fields(config: &Config) -> Vec<$crate::contract::words::Field> {
                    Self::layout(config).into_array().into_iter().filter(|f| f.bits > 0).collect()
                }
            }
        )+
    };
}
