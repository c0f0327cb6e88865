//! Where in the match the picture of a replay is, between its frames, too.

use testudo_lockstep::replay::Timetable;

/// A moment of the match, and the one that the picture before showed.
#[derive(Default)]
pub(super) struct Playhead {
    /// Time of the match since the frame that is shown, microseconds.
    carry: f64,
    /// The frame in the picture before, and the moment, microseconds.
    shown: u64,
    shown_at: f64,
}

impl Playhead {
    /// Plays for so many microseconds of the match; the frame that is due then, if `frame` is shown.
    pub(super) fn play(&mut self, table: &Timetable, mut frame: u64, micros: f64) -> u64 {
        self.carry += micros;
        while self.carry >= length(table, frame) && frame < table.frames() {
            self.carry -= length(table, frame);
            frame += 1;
        }
        frame
    }

    /// Stands at the beginning of a frame.
    pub(super) fn stand(&mut self) {
        self.carry = 0.0;
    }

    /// The part of the shown frame that is over, 0..=1.
    pub(super) fn part(&self, table: &Timetable, frame: u64) -> f64 {
        (self.carry / length(table, frame)).clamp(0.0, 1.0)
    }

    /// The frame in the picture before.
    pub(super) fn shown(&self) -> u64 {
        self.shown
    }

    /// A picture shows this frame. Returns the time of the match since the picture before, seconds: nothing if it was later.
    pub(super) fn show(&mut self, table: &Timetable, frame: u64) -> f32 {
        let now = table.time_of(frame).as_micros() as f64 + self.carry;
        let passed = (now - self.shown_at).max(0.0) / 1e6;
        (self.shown, self.shown_at) = (frame, now);
        passed as f32
    }
}

fn length(table: &Timetable, frame: u64) -> f64 {
    table.frame_length(frame).as_micros() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::playback::tests;

    /// Only the pictures in which a frame is new counted, each with its own time alone: arrows flew at a third of their speed.
    #[test]
    fn pictures_between_frames_let_as_much_time_pass_as_the_match() {
        let course = tests::course(20);
        let table = course.timetable();
        // Microseconds of the match per picture: 20, 60 and 144 pictures per second, four times and a quarter of the pace.
        for picture in [50_000.0, 16_667.0, 6_944.0, 66_668.0, 4_167.0] {
            let (mut playhead, mut frame, mut played, mut passed) = (Playhead::default(), 0, 0.0, 0.0);
            while played < 2e6 {
                frame = playhead.play(table, frame, picture);
                played += picture;
                passed += playhead.show(table, frame);
            }
            assert!((passed - played as f32 / 1e6).abs() < 0.001, "{picture}: {passed} of {played}");
        }
    }

    /// A step shows a whole frame, a look back and a picture that stands let no time pass.
    #[test]
    fn steps_take_the_time_of_their_frames() {
        let course = tests::course(20);
        let mut playhead = Playhead::default();
        let passed = [1, 1, 3, 2, 2].map(|frame| playhead.show(course.timetable(), frame));
        assert_eq!((passed, playhead.shown()), ([0.05, 0.0, 0.1, 0.0, 0.0], 2));
    }
}
