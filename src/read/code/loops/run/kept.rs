//! [`Kept`]: a list that many ways through the code have in common, up to where one of them changes it.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A list whose copies share what they hold until one is changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept<T>(Rc<Vec<T>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Rc::default())
    }
}

impl<T> Deref for Kept<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a Kept<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Clone> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Rc::make_mut(&mut self.0)
    }
}

impl<T: Clone> Kept<T> {
    /// Lets go of what stands behind the first `length`; if that is nothing, nothing is copied.
    pub fn truncate(&mut self, length: usize) {
        if length < self.len() {
            Rc::make_mut(&mut self.0).truncate(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_copy_leaves_the_others_as_they_are() {
        let mut one: Kept<u8> = Kept::default();
        one.push(1);
        let mut other = one.clone();
        other.truncate(1);
        assert!(Rc::ptr_eq(&one.0, &other.0));
        other.push(2);
        assert_eq!((&one[..], &other[..]), (&[1][..], &[1, 2][..]));
        one.truncate(0);
        assert_eq!((&one[..], &other[..]), (&[][..], &[1, 2][..]));
    }
}
