use std::time::Duration;

pub struct Limits {
    pub max_attempts: u32,
    pub pause: Duration,
}

impl Limits {
    /// Only its fields say what it is for.
    pub fn standard() -> Self {
        Limits { max_attempts: 5, pause: Duration::from_millis(100) }
    }

    pub fn pause_before(&self, number: u32) -> Duration {
        self.pause * number
    }
}
