//! The only file input and output.
//!
//! Every read has a cap, so that a wrong path (a device, a huge log) ends in a
//! message and not in a full memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest text file that is read. The domain file of 1024 CPUs has 3 MB.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Reads a text file. The error is one line: which file, why, how to mend it.
pub fn read_text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let fail = |error: std::io::Error| {
        format!("{shown}: cannot be read: {error}; check the path and its permissions")
    };
    let file = File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        let limit = MAX_TEXT_BYTES >> 20;
        return Err(format!(
            "{shown}: is larger than {limit} MiB; give a text file"
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{shown}: is not text (byte {at} is no UTF-8); give a text file")
    })
}
