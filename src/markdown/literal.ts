/**
 * Stands in the text before a character that the author escaped or wrote as a character reference, so that `\#1` and `\:tada:` stay text.
 * A noncharacter of Unicode, reserved for use inside programs; documents that contain it have it replaced.
 */
export const literalMark = '\uFDD0'
export const literalMarks = /\uFDD0/g
