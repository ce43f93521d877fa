import type { Site } from '../../api/site.ts'
import type { Mail } from '../../mail/mailer.ts'
import { oneLine } from '../../mail/smtp-mailer.ts'

type Person = { readonly name: string; readonly username: string }

/** Paragraphs, after a greeting. Names are text that somebody chose: on a line of their own, and one line only. */
const letter = (site: Site, to: string, person: Person, subject: string, ...paragraphs: readonly string[]): Mail => ({
  to,
  subject: `${subject} (${site.host})`,
  body: `Hello ${oneLine(person.name)},\n\n${paragraphs.join('\n\n')}\n\n--\nSent by ${site.url} to ${to}.\n`,
})

const unasked = 'If you did not ask for this, you need not do anything.'

const hours = (count: number): string => (count === 1 ? 'one hour' : `${count} hours`)

export const confirmationMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  letter(
    site,
    to,
    person,
    'Confirm your e-mail address',
    `Please confirm that ${to} is your address, for your account @${person.username}, by this link (good for ${hours(lifetimeHours)}):`,
    `${site.url}/-/users/confirmation?token=${token}`,
    unasked,
  )

export const passwordMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  letter(
    site,
    to,
    person,
    'Choose a new password',
    `By this link (good for ${hours(lifetimeHours)}) you choose a new password for your account @${person.username}:`,
    `${site.url}/-/users/password/edit?token=${token}`,
    unasked,
  )

export const welcomeMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  letter(
    site,
    to,
    person,
    'Your new account',
    `An account was made for you at ${site.url}. Your user name is ${person.username}.`,
    `By this link (good for ${hours(lifetimeHours)}) you choose your password:`,
    `${site.url}/-/users/password/edit?token=${token}`,
    `Later you can ask for another link at ${site.url}/-/users/password/new`,
  )
