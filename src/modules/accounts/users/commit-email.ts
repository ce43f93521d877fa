import type { Ctx } from '../../../api/ctx.ts'

type Host = Pick<Ctx, 'settings' | 'site'>
type Committer = { readonly id: number; readonly username: string; readonly email: string }

/** Choice of users who hide their addresses in commits. */
export const privateChoice = '_private'

/** Host of private commit addresses, which receive no mail. */
export const privateEmailHost = ({ settings, site }: Host): string =>
  settings.commit_email_hostname || `users.noreply.${site.host}`

const privateEmail = ({ id, username }: Committer, host: Host): string => `${id}-${username}@${privateEmailHost(host)}`

/** The address in a user's commits: the chosen one, or the account's by default. */
export const commitEmail = (who: Committer, choice: string | null, host: Host): string =>
  choice === privateChoice ? privateEmail(who, host) : (choice ?? who.email)

/** The caller as author, committer or tagger, at the current time. */
export const callerSignature = ({ actor, settings, site }: Host & Pick<Ctx, 'actor'>) => ({
  name: actor!.name,
  email: commitEmail(actor!, actor!.commitEmail ?? null, { settings, site }),
  at: new Date(),
})

/** A user as the author of what another user commits: with the address chosen for commits only, since they did not commit it. */
export const signatureOfOther = ({ actor, settings, site }: Host & Pick<Ctx, 'actor'>) => ({
  name: actor!.name,
  email: commitEmail(actor!, actor!.commitEmail ?? privateChoice, { settings, site }),
})
