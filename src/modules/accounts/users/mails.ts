import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { letter } from '../../instance/index.ts'

type Person = { readonly name: string; readonly username: string }

const unasked = 'If you did not ask for this, you need not do anything.'

const hours = (count: number): string => (count === 1 ? 'one hour' : `${count} hours`)

export const confirmationMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  letter(
    site,
    to,
    person.name,
    'Confirm your e-mail address',
    `Please confirm that ${to} is your address, for your account @${person.username}, by this link (good for ${hours(lifetimeHours)}):`,
    `${site.url}/-/users/confirmation?token=${token}`,
    unasked,
  )

export const passwordMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  letter(
    site,
    to,
    person.name,
    'Choose a new password',
    `By this link (good for ${hours(lifetimeHours)}) you choose a new password for your account @${person.username}:`,
    `${site.url}/-/users/password/edit?token=${token}`,
    unasked,
  )

export const welcomeMail = (site: Site, to: string, person: Person, token: string, lifetimeHours: number): Mail =>
  letter(
    site,
    to,
    person.name,
    'Your new account',
    `An account was made for you at ${site.url}. Your user name is ${person.username}.`,
    `By this link (good for ${hours(lifetimeHours)}) you choose your password:`,
    `${site.url}/-/users/password/edit?token=${token}`,
    `Later you can ask for another link at ${site.url}/-/users/password/new`,
  )
