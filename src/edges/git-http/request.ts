import { repositoryPath, type Service } from '../../modules/transport/index.ts'
import { splitTarget } from '../http/target.ts'

/** The kind of Git request that a URL stands for. */
export type GitRequest =
  | { kind: 'refs'; path: string; service: Service | undefined }
  | { kind: 'service'; path: string; service: Service }
  /** Without `.git`: redirects the client to the URL with it. */
  | { kind: 'elsewhere'; location: string }

const services = new Set<string>(['git-upload-pack', 'git-receive-pack'])
export const isService = (text: string | null): text is Service => text !== null && services.has(text)

const refs = new RegExp(`^/${repositoryPath}(\\.git)?/info/refs$`)
/** Clients that do not keep the redirected URL, such as isomorphic-git, leave `.git` out here, too. */
const service = new RegExp(`^/${repositoryPath}(?:\\.git)?/(git-upload-pack|git-receive-pack)$`)

/** `undefined` if the URL does not belong to Git over HTTP. */
export function parseGitUrl(url: string): GitRequest | undefined {
  const { path: pathname, query = '' } = splitTarget(url)
  const advertised = refs.exec(pathname)
  if (advertised) {
    const wanted = new URLSearchParams(query).get('service')
    if (advertised[2] === undefined)
      return wanted === null || isService(wanted)
        ? { kind: 'elsewhere', location: `/${advertised[1]}.git/info/refs${query === '' ? '' : `?${query}`}` }
        : undefined
    return { kind: 'refs', path: advertised[1]!, service: isService(wanted) ? wanted : undefined }
  }
  const asked = service.exec(pathname)
  return asked ? { kind: 'service', path: asked[1]!, service: asked[2] as Service } : undefined
}
