use super::*;
use crate::read::code::build::Builder;
use crate::read::code::tree::{At, Id, Literal};
use crate::source::FileId;

fn at(start: u32) -> At {
    At { start, end: start + 1 }
}

fn constant(builder: &mut Builder, path: &str, value: u128, start: u32) -> Id {
    let mark = builder.mark();
    let value = builder.leaf(Kind::Literal(Literal::Int(value, None)), at(start));
    let name = path.rsplit("::").next().unwrap().into();
    builder.add(mark, Kind::Constant { name, path: path.into(), value }, at(start))
}

#[test]
fn what_the_file_itself_defines_comes_first_and_test_code_last() {
    let mut builder = Builder::new(FileId(0), "rust", None, "crate::limits");
    let max = constant(&mut builder, "crate::limits::MAX", 3, 10);
    constant(&mut builder, "crate::limits::MAX", 9, 50);
    constant(&mut builder, "crate::limits::OS", 1, 20);
    constant(&mut builder, "crate::limits::OS", 2, 30);
    let only_in_tests = constant(&mut builder, "crate::limits::SHORT", 2, 55);
    builder.test(At { start: 40, end: 60 });
    builder.glob("crate::limits".into());
    let unit = Arc::new(builder.finish());
    let project = Project::default();
    let id = |full: &str| project.item(&unit, full).map(|place| place.id);
    assert_eq!(id("crate::limits::MAX"), Some(max));
    assert_eq!(id("crate::limits::SHORT"), Some(only_in_tests));
    // One for each platform: which is meant cannot be told.
    assert_eq!(id("crate::limits::OS"), None);
    assert_eq!(id("crate::limits::MA"), None);
    let named = |text: &str, full: Option<&str>| {
        let name = Name { text: text.into(), full: full.map(Into::into) };
        project.named(&unit, &name).map(|place| place.id)
    };
    assert_eq!(named("MAX", None), Some(max));
    assert_eq!(named("MAX", Some("tokio::MAX")), None);
}
