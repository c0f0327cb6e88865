//! Writes the initial inputs of a search into the corpus.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for (target, _, seeds) in testudo_tests::fuzz::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        for (number, seed) in seeds().into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
