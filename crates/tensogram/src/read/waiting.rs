//! Methods of [`RemoteFile`](super::RemoteFile) that wait for those of the awaited file.

/// Declares methods of [`RemoteFile`](super::RemoteFile) that wait for the method of the same name of
/// [`AsyncTensogramFile`](crate::AsyncTensogramFile). Each argument is given by its kind, which says how it is taken from
/// the caller and handed on: see `argument!`.
macro_rules! waiting {
    ($($(#[$meta:meta])* fn $name:ident $(<$type:ident: $bound:path>)? ($($argument:ident: $kind:ident),*) -> $output:ty;)*) => {
        impl RemoteFile {
            $(
                $(#[$meta])*
                ///
                /// # Errors
                /// As there.
                pub fn $name $(<$type: $bound>)? (
                    &self,
                    $($argument: $crate::read::argument!(type $kind)),*
                ) -> $crate::error::Result<$output> {
                    $(let $argument = $crate::read::argument!(own $kind $argument);)*
                    self.wait(|file| async move {
                        file.$name($($crate::read::argument!(hand $kind $argument)),*).await
                    })
                }
            )*
        }
    };
}

/// The kinds of arguments: their type, how they are made the future's own, and how they are handed on.
macro_rules! argument {
    (type index) => { impl Into<$crate::access::MessageIndex> };
    (own index $value:ident) => { $value.into() };
    (hand index $value:ident) => { $value };

    (type indices) => { &[$crate::access::MessageIndex] };
    (own indices $value:ident) => { $value.to_vec() };
    (hand indices $value:ident) => { &$value };

    (type object) => { usize };
    (own object $value:ident) => { $value };
    (hand object $value:ident) => { $value };

    (type ranges) => { &[(u64, u64)] };
    (own ranges $value:ident) => { $value.to_vec() };
    (hand ranges $value:ident) => { &$value };

    (type selection) => { impl Into<fw_tensor::Selection> };
    (own selection $value:ident) => { $value.into() };
    (hand selection $value:ident) => { $value };

    (type options) => { &$crate::options::DecodeOptions };
    (own options $value:ident) => { $value.clone() };
    (hand options $value:ident) => { &$value };
}

pub(crate) use {argument, waiting};
