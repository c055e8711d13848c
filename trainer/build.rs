//! Lists the nets in `data/nets`, which the module `shipped` embeds.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let data = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../data");
    let folder = data.join("nets");
    let mut nets = Vec::new();
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "safetensors")
            {
                nets.push(path.canonicalize()?);
            }
        }
    } else {
        println!("cargo::rerun-if-changed={}", data.display());
    }
    nets.sort();
    let mut list = String::from("&[\n");
    for path in nets {
        let variant = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let path = path.to_string_lossy().into_owned();
        list += &format!("    ({variant:?}, include_bytes!({path:?})),\n");
    }
    list += "]\n";
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join("shipped_nets.rs"),
        list,
    )?;
    Ok(())
}
