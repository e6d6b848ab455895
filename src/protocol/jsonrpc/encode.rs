//! From messages to bytes: one line each.

use super::{ErrorObject, Id};
/// A request.
pub fn request(_id: u64, _text_id: bool, _method: &str, _params: &str) -> String {
    String::new()
}
/// A notification.
pub fn notification(_method: &str, _params: Option<&str>) -> String {
    String::new()
}
/// A response.
pub fn response(_id: &Id, _outcome: Result<&str, &ErrorObject>) -> String {
    String::new()
}
