import { createHash } from 'node:crypto'
import type { Answer, Client, World } from '../../../test/world.ts'

export const digestOf = (content: string | Buffer, algorithm = 'sha256'): string =>
  `${algorithm}:${createHash(algorithm).update(content).digest('hex')}`

/** The digest of a blob that no test pushes. */
export const missing: string = digestOf('nothing has these bytes')

/** The headers of an upload. */
export const octets = { 'content-type': 'application/octet-stream' }

export const ociManifest = 'application/vnd.oci.image.manifest.v1+json'
export const ociIndex = 'application/vnd.oci.image.index.v1+json'
export const imageConfig = 'application/vnd.oci.image.config.v1+json'
export const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip'

export const basicOf = (username: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

/** The answer of the token service to a user with their access token, or to an anonymous client. */
export function askToken(who: Client, scopes: readonly string[], query: Record<string, string> = {}): Promise<Answer> {
  const parameters = new URLSearchParams({ service: 'container_registry', ...query })
  for (const scope of scopes) parameters.append('scope', scope)
  return who.get(`//jwt/auth?${parameters}`, {
    headers: who.token === undefined ? {} : basicOf(who.username, who.token),
  })
}

/** The claims of a token, unverified. */
export const claimsOf = (token: string): any => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

/** A registry client that holds a token for the repositories it names, as a container engine does. */
export class Registry {
  readonly #who: Client
  readonly name: string
  readonly token: string | undefined

  private constructor(who: Client, name: string, token: string | undefined) {
    this.#who = who
    this.name = name
    this.token = token
  }

  static async open(
    who: Client,
    name: string,
    actions = 'pull,push,delete',
    others: readonly string[] = [],
  ): Promise<Registry> {
    const scopes = [`repository:${name}:${actions}`, ...others.map((other) => `repository:${other}:pull`)]
    const answer = await askToken(who, scopes)
    return new Registry(who, name, answer.json?.token)
  }

  send(
    method: string,
    path: string,
    { body, headers = {} }: { body?: string | Buffer; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const url = path.startsWith('/') ? `/${path}` : `//v2/${this.name}/${path}`
    return this.#who.send(method, url, {
      headers: { ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }), ...headers },
      ...(body !== undefined && { body }),
    })
  }

  /** Uploads a blob in one request after the first. */
  async push(content: string | Buffer, algorithm = 'sha256'): Promise<string> {
    const digest = digestOf(content, algorithm)
    const begun = await this.send('POST', 'blobs/uploads/')
    const done = await this.send('PUT', `${begun.headers['location']}?digest=${digest}`, {
      body: content,
      headers: { 'content-type': 'application/octet-stream' },
    })
    if (done.status !== 201) throw new Error(`pushing a blob answered ${done.status}: ${done.text}`)
    return digest
  }

  putManifest(reference: string, manifest: string | object, contentType: string = ociManifest): Promise<Answer> {
    return this.send('PUT', `manifests/${reference}`, {
      body: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
      headers: { 'content-type': contentType },
    })
  }

  /** Pushes an image of one layer, and returns the digest of its manifest. */
  async image(tag: string, { layer = tag, created }: { layer?: string; created?: string } = {}): Promise<string> {
    const manifest = JSON.stringify(await this.manifestOf({ layer, created }))
    const answer = await this.putManifest(tag, manifest)
    if (answer.status !== 201) throw new Error(`pushing an image answered ${answer.status}: ${answer.text}`)
    return digestOf(manifest)
  }

  /** A manifest whose blobs are pushed. */
  async manifestOf({
    layer = 'layer',
    created,
    ...more
  }: {
    layer?: string
    created?: string | undefined
    [field: string]: unknown
  } = {}) {
    const config = JSON.stringify({ architecture: 'amd64', os: 'linux', ...(created && { created }) })
    await this.push(config)
    await this.push(layer)
    return {
      schemaVersion: 2,
      mediaType: ociManifest,
      config: { mediaType: imageConfig, digest: digestOf(config), size: config.length },
      layers: [{ mediaType: layerType, digest: digestOf(layer), size: Buffer.byteLength(layer) }],
      ...more,
    }
  }

  async tags(): Promise<string[]> {
    return (await this.send('GET', 'tags/list')).json?.tags ?? []
  }
}

/** The registry's name for the image at the path of a project. */
export const imageAt = (project: { full_path: string }, name = ''): string =>
  `${project.full_path.toLowerCase()}${name === '' ? '' : `/${name}`}`

/** The repository of a project with this name, as the API lists it. */
export const repositoryOf = async (world: World, project: { id: number }, name = ''): Promise<any> =>
  (await world.root.get(`/projects/${project.id}/registry/repositories?per_page=100`)).json.find(
    (each: any) => each.name === name,
  )
