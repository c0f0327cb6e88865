//! The browser page, as files of a folder that `demo/web/build.sh` has made.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tower_http::services::ServeDir;
use tower_http::services::fs::ServeFileSystemResponseBody;

use crate::app::error::MatchError;
use crate::app::relay::http::{Http, Responder, only};

/// Serves a folder with a page at `http://ADDRESS/`. Files that are there in a smaller form, as `FILE.gz`, are sent in that form.
///
/// # Errors
/// A taken port, or no page in the folder.
pub(crate) fn serve(address: SocketAddr, folder: &Path) -> Result<Http, MatchError> {
    if !folder.join("index.html").is_file() {
        return Err(MatchError::NoPage(folder.to_owned()));
    }
    let files = Files(ServeDir::new(folder).precompressed_gzip());
    Http::serve("web", address, files).map_err(|error| MatchError::Bind { address, error })
}

/// The files of a page.
#[derive(Clone)]
struct Files(ServeDir);

impl Responder for Files {
    type Body = Either<ServeFileSystemResponseBody, String>;

    async fn answer(&self, request: Request<Incoming>) -> Response<Self::Body> {
        let mut answer = match self.0.clone().try_call(request).await {
            Ok(file) => file.map(Either::Left),
            Err(error) => only(status(error.kind())).map(Either::Right),
        };
        // A newer page belongs to a newer relay: browsers ask each time whether it has changed.
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        answer
    }
}

/// What the answer about a file is that cannot be read.
fn status(error: ErrorKind) -> StatusCode {
    match error {
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory => StatusCode::NOT_FOUND,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
