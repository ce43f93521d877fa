import { repositoryPath } from '../../modules/transport/index.ts'
import { splitTarget } from './target.ts'

const address = new RegExp(`^/${repositoryPath}/uploads/([0-9a-f]{32})/([^/]+)$`)

/** The path of the project, the secret and the encoded file name in the URL of a file uploaded to a project; undefined for another URL. */
export function uploadAddress(url: string): readonly [path: string, secret: string, name: string] | undefined {
  const [, path, secret, name] = address.exec(splitTarget(url).path) ?? []
  return path === undefined ? undefined : [path, secret!, name!]
}
