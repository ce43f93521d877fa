import { compileExpression } from '../../../kernel/expression.ts'
import { nameGlob } from '../../../kernel/glob.ts'
import type { Settings } from '../../../settings/settings.ts'

/** Whether an administrator's regular expression matches the address; the third parameter, if it cannot be used. */
function matches(pattern: string | null, email: string, otherwise: boolean): boolean {
  if (!pattern) return false
  try {
    return compileExpression(pattern, { ignoreCase: true })(email)
  } catch {
    return otherwise
  }
}

/** `*` in a domain pattern matches any text. */
const isOfDomain = (domain: string, names: readonly string[]): boolean =>
  names.some((name) => nameGlob(name.toLowerCase())(domain.toLowerCase()))

const domainNotAllowed = 'is not from an allowed domain.'

/** Why accounts with this address may not sign up. */
export function signUpViolations(email: string, settings: Settings): string[] {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const { domain_whitelist, domain_blacklist, domain_blacklist_enabled } = settings
  const isAllowed = domain_whitelist.length === 0 || isOfDomain(domain, domain_whitelist)
  const isBarred = domain_blacklist_enabled && isOfDomain(domain, domain_blacklist)
  const isRestricted = settings.email_restrictions_enabled && matches(settings.email_restrictions, email, true)
  return [
    ...(isAllowed && !isBarred ? [] : [domainNotAllowed]),
    ...(isRestricted
      ? ['is not allowed. Try again with a different email address, or contact your Stithy administrator.']
      : []),
  ]
}

/** Whether a new account with this address is external by default. */
export const isExternalByDefault = (email: string, settings: Settings): boolean =>
  settings.user_default_external && !matches(settings.user_default_internal_regex, email, false)
