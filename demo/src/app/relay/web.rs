//! The browser page, as files of a folder that `demo/web/build.sh` has made.

use std::net::SocketAddr;
use std::path::Path;

use axum::Router;
use axum::http::{HeaderValue, header};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::app::error::MatchError;
use crate::app::relay::http::Http;

/// Serves a folder with a page at `http://ADDRESS/`. Files that are there in a smaller form, as `FILE.gz`, are sent in that form.
///
/// # Errors
/// A taken port, or no page in the folder.
pub(crate) fn serve(address: SocketAddr, folder: &Path) -> Result<Http, MatchError> {
    if !folder.join("index.html").is_file() {
        return Err(MatchError::NoPage(folder.to_owned()));
    }
    // A newer page belongs to a newer relay: browsers ask each time whether it has changed.
    let fresh =
        SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let files = ServeDir::new(folder).precompressed_gzip();
    let router = Router::new().fallback_service(files).layer(fresh);
    Http::serve("web", address, router).map_err(|error| MatchError::Bind { address, error })
}
