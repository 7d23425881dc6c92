//! C#, with mono's compiler and runtime.

mod literal; // values as C# expressions

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fw_codegen::lang::csharp::Names;
use fw_codegen::{Lang, Options, generate};
use fw_structframe::{Framing, HeaderKind, PayloadKind};

use super::{Adapter, Suite};

pub(super) struct CSharp;

impl Adapter for CSharp {
    fn name(&self) -> &'static str {
        Lang::CSharp.name()
    }

    fn missing(&self) -> Option<String> {
        let there = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
        (!there("mcs") || !there("mono"))
            .then(|| "needs mcs and mono: apt-get install mono-mcs mono-runtime".to_owned())
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let program = folder.join("program.exe");
        let mut mcs = Command::new("mcs");
        mcs.args(["-langversion:7.2", "-warnaserror", "-optimize"]).arg(format!("-out:{}", program.display()));
        for file in generate(&suite.schema, Lang::CSharp, &Options::default())? {
            let path = folder.join(&file.path);
            fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
            fs::write(&path, &file.text)?;
            mcs.arg(path);
        }
        for (name, text) in [("Driver.cs", include_str!("Driver.cs").to_owned()), ("Cases.cs", cases(suite))] {
            fs::write(folder.join(name), text)?;
            mcs.arg(folder.join(name));
        }
        let output = mcs.output()?;
        let words = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{words}");
        Ok(vec!["mono".into(), program.into()])
    }
}

fn cases(suite: &Suite) -> String {
    let names = Names::new(&suite.schema, &Options::default());
    // Values of one message in several framings are written once.
    let (mut written, mut values, mut cases) = (Vec::<String>::new(), String::new(), String::new());
    for case in &suite.cases {
        let value = literal::message(&suite.schema, &names, suite.message(case), &suite.value(case));
        let at = written.iter().position(|known| *known == value).unwrap_or_else(|| {
            let at = written.len();
            let _ = writeln!(values, "    static IMessage Value{at}()\n    {{\n        return {value};\n    }}\n");
            written.push(value);
            at
        });
        let [header, payload] = numbers(case.framing);
        let of = &case.header;
        let _ = writeln!(
            cases,
            "        yield return new Case({header}, {payload}, {}, {}, {}, Value{at});",
            of.sequence, of.system, of.component
        );
    }
    let framings: Vec<_> = suite
        .framings
        .iter()
        .map(|framing| numbers(*framing))
        .map(|[header, payload]| format!("Driver.Of({header}, {payload})"))
        .collect();
    let root = suite.schema.packages().first().map(|package| package.messages.first().copied());
    let root = root.flatten().map_or_else(String::new, |index| names.namespace(suite.schema[index].package));
    format!(
        "using System.Collections.Generic;\nusing StructFrameRuntime;\n\npublic static class Cases\n{{\n    \
         public static readonly MessageTable Table = global::{root}.Messages.All;\n\n    \
         public static readonly Framing[] Framings = {{ {} }};\n\n    public static IEnumerable<Case> All()\n    {{\n\
         {cases}    }}\n\n{values}}}\n",
        framings.join(", ")
    )
}

fn numbers(framing: Framing) -> [usize; 2] {
    let header = HeaderKind::ALL.iter().position(|kind| *kind == framing.header).unwrap_or_default();
    let payload = PayloadKind::ALL.iter().position(|kind| *kind == framing.payload).unwrap_or_default();
    [header, payload]
}
