/**
 * Without blanks, and without what separates, quotes or comments addresses in headers of mails, where `a,b@example.com` would be two of them.
 * Source: supplement to the API documents, 12.3; RFC 5322, section 3.2.3. The domain may be a literal in brackets.
 */
const shape = /^[^@\s\p{Cc}()<>[\]:;,\\"]+@[^@\s\p{Cc}()<>:;,\\"]+$/u

/** Whether a text has the form of one address, `local@domain`. */
export const isMailAddress = (text: string): boolean => shape.test(text)
