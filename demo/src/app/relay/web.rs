//! The browser page, as files of a folder that `demo/web/build.sh` has made.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use axum::Router;
use axum::http::{HeaderValue, header};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::app::relay::http::Http;

/// Serves a folder with a page at `http://ADDRESS/`. Files that are there in a smaller form, as `FILE.gz`, are sent in that form.
///
/// # Errors
/// A taken port, or no page in the folder.
pub(crate) fn serve(address: SocketAddr, folder: &Path) -> io::Result<Http> {
    if !folder.join("index.html").is_file() {
        let what = format!("there is no page in {}: demo/web/build.sh makes one", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    // A newer page belongs to a newer relay: browsers ask each time whether it has changed.
    let fresh =
        SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let files = ServeDir::new(folder).precompressed_gzip();
    Http::serve("web", address, Router::new().fallback_service(files).layer(fresh))
}
