import type { Ctx } from '../../../api/ctx.ts'

type Host = Pick<Ctx, 'settings' | 'site'>
type Committer = { readonly id: number; readonly username: string; readonly email: string }

/** What somebody chooses who does not want to show an address of his in commits. */
export const privateChoice = '_private'

/** Where private addresses of commits are, by their look: nothing is received there. */
export const privateEmailHost = ({ settings, site }: Host): string =>
  settings.commit_email_hostname ?? `users.noreply.${site.host}`

const privateEmail = ({ id, username }: Committer, host: Host): string => `${id}-${username}@${privateEmailHost(host)}`

/** The address that commits of somebody have, by what he chose; the account's when he chose none. */
export const commitEmail = (who: Committer, choice: string | null, host: Host): string =>
  choice === privateChoice ? privateEmail(who, host) : (choice ?? who.email)

/** The caller as author, committer or tagger, now. */
export const callerSignature = ({ actor, settings, site }: Host & Pick<Ctx, 'actor'>) => ({
  name: actor!.name,
  email: commitEmail(actor!, actor!.commitEmail ?? null, { settings, site }),
  at: new Date(),
})
