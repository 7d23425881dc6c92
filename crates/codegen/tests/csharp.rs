//! Generated C#: every schema we have compiles with mono's compiler as C# 7.2, without a warning.

mod common;

use common::{generated, run, schemas, skip};
use fw_codegen::Lang;
use std::fs;
use std::process::Command;

#[test]
fn without_a_warning() {
    if Command::new("mcs").arg("--version").output().is_err() {
        skip("C# is not compiled: apt-get install mono-mcs mono-runtime");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, path) in schemas() {
        let folder = folder.path().join(&name);
        let mut mcs = Command::new("mcs");
        mcs.args(["-langversion:7.2", "-warnaserror", "-warn:4", "-target:library"]);
        mcs.arg(format!("-doc:{}", folder.join("docs.xml").display()));
        mcs.arg(format!("-out:{}", folder.join("out.dll").display()));
        for file in generated(&path, Lang::CSharp) {
            let path = folder.join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &file.text).unwrap();
            mcs.arg(path);
        }
        run(&mut mcs);
    }
}
