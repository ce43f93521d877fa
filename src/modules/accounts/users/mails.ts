import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { buildMail } from '../../instance/index.ts'

type Person = { readonly name: string; readonly username: string }

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
