import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { buildMail } from '../../instance/index.ts'

export type Person = { readonly name: string; readonly username: string }

const ignoreHint = 'If you did not request this, ignore this mail.'

const hours = (count: number): string => (count === 1 ? 'one hour' : `${count} hours`)

export const confirmationMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  buildMail(
    site,
    to,
    person.name,
    'Confirm your email address',
    `Confirm the address ${to} for your account @${person.username} with this link (valid for ${hours(lifetimeHours)}):`,
    `${site.url}/-/users/confirmation?token=${token}`,
    ignoreHint,
  )

export const passwordMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  buildMail(
    site,
    to,
    person.name,
    'Choose a new password',
    `Choose a new password for your account @${person.username} with this link (valid for ${hours(lifetimeHours)}):`,
    `${site.url}/-/users/password/edit?token=${token}`,
    ignoreHint,
  )

export const welcomeMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  buildMail(
    site,
    to,
    person.name,
    'Your new account',
    `An account was created for you at ${site.url}. Your username is ${person.username}.`,
    `Choose your password with this link (valid for ${hours(lifetimeHours)}):`,
    `${site.url}/-/users/password/edit?token=${token}`,
    `If the link has expired, request a new one at ${site.url}/-/users/password/new`,
  )

const strangerHint = (site: Site): string =>
  `If this was not you, choose a new password at ${site.url}/-/users/password/new, and remove tokens and keys that you do not know.`

/** A mail about a change of an account, with what is new. */
const noticeMail =
  (subject: string, sentence: (username: string) => string, ...details: readonly string[]) =>
  (site: Site, to: string, { name, username }: Person): Mail =>
    buildMail(site, to, name, subject, sentence(username), ...details.map(oneLine), strangerHint(site))

export const passwordChangedMail = noticeMail(
  'Your password was changed',
  (username) => `The password of your account @${username} was changed.`,
)

/** To the address that the account had before. */
export const emailChangedMail = noticeMail(
  'Your email address was changed',
  (username) => `Your account @${username} has another email address now. This is the last mail to this one.`,
)

export const emailAddedMail = (email: string) =>
  noticeMail(
    'An email address was added to your account',
    (username) => `An email address was added to your account @${username}:`,
    email,
  )

export const sshKeyMail = (title: string, fingerprint: string) =>
  noticeMail(
    'An SSH key was added to your account',
    (username) => `An SSH key was added to your account @${username}:`,
    title,
    fingerprint,
  )

export const gpgKeyMail = (fingerprint: string) =>
  noticeMail(
    'A GPG key was added to your account',
    (username) => `A GPG key was added to your account @${username}:`,
    fingerprint,
  )

export const accessTokenMail = (name: string) =>
  noticeMail(
    'An access token of your account was created',
    (username) => `A personal access token of your account @${username} was created:`,
    name,
  )

export const twoFactorDisabledMail = noticeMail(
  'The second factor of your account was disabled',
  (username) => `The second factor of your account @${username} was disabled. Its password is enough to sign in now.`,
)
