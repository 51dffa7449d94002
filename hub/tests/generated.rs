//! The code in `proto/generated` is what the generator makes of the protos. `UPDATE=1` writes it anew.

use std::path::Path;
use std::{env, fs};

const PROTOS: [&str; 3] = ["a2a.proto", "agenthub.proto", "worker.proto"];

#[test]
fn the_generated_code_is_that_of_the_protos() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated-protos");
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir_all(&fresh).unwrap();
    let files = protox::compile(PROTOS, [&folder]).unwrap();
    tonic_prost_build::configure().out_dir(&fresh).compile_fds(files).unwrap();

    let kept = folder.join("generated");
    let names = |folder: &Path| -> Vec<_> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let made = names(&fresh);
    assert_eq!(made, ["a2a.rs", "agenthub.rs", "harn.hub.v1.rs"]);
    for name in &made {
        let code = fs::read_to_string(fresh.join(name)).unwrap();
        let path = kept.join(name);
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, &code).unwrap();
        }
        let is_same = fs::read_to_string(&path).is_ok_and(|kept| kept == code);
        assert!(is_same, "{} is not what the protos give: run this test with UPDATE=1", path.display());
    }
    assert_eq!(names(&kept), made, "proto/generated has a file that no proto gives");
}
