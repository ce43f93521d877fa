import { basicOf, type Remote, type RemoteFailure } from '../../../git/transfer/remote.ts'

/**
 * Permanent failure of an import, or failure of one run of a mirror, with a message that maintainers of the project read. The
 * job is not retried.
 */
export class RemoteRefusal extends Error {
  override name = 'RemoteRefusal'
}

/** A remote cannot be read now. Another run of the import goes on later, and this one does not count as an attempt. */
export class RemoteBusy extends Error {
  override name = 'RemoteBusy'
}

const hour = 3_600_000

const wantsCredentials = (output: string): boolean =>
  // Git asks for credentials although there is no terminal, so its message is about the prompt.
  /askpass|could not read (Username|Password)|Authentication failed/.test(output)

/** A line such as `remote: Repository a/b.git not found`. */
const saysNotFound = (output: string): boolean =>
  output
    .toLowerCase()
    .split('\n')
    .some((line) => {
      const named = line.indexOf('repository ')
      return named >= 0 && line.includes('not found', named)
    })

/** Whether another attempt would fail as well, unless the remote or its credentials change. */
export const isPermanent = ({ failed, output }: RemoteFailure): boolean =>
  failed !== 'refused' ||
  wantsCredentials(output) ||
  saysNotFound(output) ||
  // Redirects are not followed. 408 and 429 ask for another attempt.
  /returned error: (?:3\d\d|4(?!08|29)\d\d)/.test(output)

/** The message for a failure of git. Contains no credentials, even if the remote repeats them. */
export function sentenceFor(
  { failed, output }: RemoteFailure,
  { what, remote, timeoutMs, maxMegabytes }: { what: string; remote: Remote; timeoutMs: number; maxMegabytes: number },
): string {
  if (failed === 'too_large') return `The repository is larger than ${maxMegabytes} MB.`
  if (failed === 'too_slow')
    return timeoutMs < hour
      ? `The ${what} took longer than ${timeoutMs / 60_000} minutes.`
      : `The ${what} took longer than ${timeoutMs / hour} hours.`
  if (wantsCredentials(output))
    return 'The remote repository requires authentication: the URL has no credentials, or they were rejected.'
  const lines = output.split('\n').filter((line) => /^(fatal|error|remote):/.test(line))
  return withoutCredentials(lines.join('\n'), remote) || 'The repository could not be read.'
}

const maxLength = 1000
const mask = '*****'

/**
 * Text of a remote for display: at most 1,000 characters, without control characters, and without the credentials it got and the
 * parameters of its URL, which may be tokens.
 */
export function withoutCredentials(text: string, { url, credentials }: Remote): string {
  const { search, searchParams } = new URL(url)
  let shown = text.replace(/\/\/[^/\s@]*@/g, `//${mask}:${mask}@`)
  if (search !== '') shown = shown.replaceAll(search, `?${mask}`)
  const secrets = [...searchParams.values()].flatMap((value) => [value, encodeURIComponent(value)])
  if (credentials) {
    const { username, password } = credentials
    secrets.push(basicOf(credentials), password, encodeURIComponent(password))
    // A token may be the user name.
    if (password === '') secrets.push(username)
  }
  for (const secret of secrets) if (secret.length > 2) shown = shown.replaceAll(secret, mask)
  return shown.replace(/[^\P{C}\n]/gu, '').slice(0, maxLength)
}
