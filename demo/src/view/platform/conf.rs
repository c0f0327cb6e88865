//! Settings of the window.

use macroquad::conf::Conf;
use macroquad::miniquad;
use macroquad::miniquad::conf::{LinuxBackend, Platform};

use testudo_render::paint::batch;

/// Settings of the window.
pub(crate) fn conf(linux_backend: LinuxBackend) -> Conf {
    Conf {
        miniquad_conf: miniquad::conf::Conf {
            window_title: "Testudo".into(),
            window_width: 1_360,
            window_height: 860,
            high_dpi: true,
            sample_count: 1,
            platform: Platform { linux_backend, ..Platform::default() },
            ..miniquad::conf::Conf::default()
        },
        draw_call_vertex_capacity: batch::VERTICES_MAX,
        draw_call_index_capacity: batch::INDICES_MAX,
        ..Conf::default()
    }
}
