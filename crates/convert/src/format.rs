//! The formats of tensor files: one table, which the enum and the way to each format's own room are made from.

use serde::Serialize;

/// The table: a format and the room that describes it. `$make` makes something of all rows, so that a format is either complete
/// or does not compile. The rooms stand after this one; [`formats`](crate::Format) resolves their names.
macro_rules! every_format {
    ($make:ident) => {
        $make! {
            /// `.tgm`
            Tensogram => tensogram::Messages;
            /// `.bt`
            BinTensors => bintensors::BinTensors;
            /// `.safetensors`
            SafeTensors => safetensors::SafeTensors;
            /// `.npy`
            Npy => numpy::Npy;
            /// `.npz`
            Npz => numpy::Npz;
            /// `.gguf`, which is read and not written.
            Gguf => gguf::Gguf;
            /// `.pt`, `.pth`, `.ckpt`, which is read and not written.
            Torch => torch::Torch;
            /// `.index.json`: a checkpoint in several files.
            ShardIndex => index::ShardIndex;
        }
    };
}
pub(crate) use every_format;

macro_rules! members {
    ($($(#[$doc:meta])* $member:ident => $contract:path;)+) => {
        /// A format of tensor files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $member,)+
        }

        impl Format {
            /// Every format, in the order in which lists show them.
            pub const ALL: &'static [Self] = &[$(Self::$member),+];
        }
    };
}

every_format!(members);
