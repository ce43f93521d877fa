import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { imageAt, Registry, repositoryOf } from '../../src/edges/registry/testing.ts'
import { isInstalled, titleFor } from '../programs/installed.ts'
import { run } from '../programs/run.ts'
import { test, unique, type World } from '../world.ts'

const options = {
  buildah: ['--registries-conf', '/dev/null'],
  podman: ['--events-backend', 'file', '--cgroup-manager', 'cgroupfs'],
} as const

/** An engine that stores images as plain files, and needs neither a daemon nor rights of the kernel. */
class Engine implements AsyncDisposable {
  readonly #program: keyof typeof options
  readonly #host: string
  readonly folder: string
  readonly client: readonly string[]

  private constructor(
    program: keyof typeof options,
    host: string,
    /** Its path is short, because engines limit the length. */
    folder: string,
  ) {
    this.folder = folder
    this.#program = program
    this.#host = host
    this.client = ['--authfile', join(folder, 'auth.json'), '--tls-verify=false']
  }

  static async start(program: keyof typeof options, { origin }: World): Promise<Engine> {
    const engine = new Engine(program, new URL(origin).host, await mkdtemp('/tmp/engine-'))
    await mkdir(join(engine.folder, '.config/containers'), { recursive: true })
    await engine.write('.config/containers/policy.json', '{"default":[{"type":"insecureAcceptAnything"}]}')
    return engine
  }

  write(name: string, content: string): Promise<void> {
    return writeFile(join(this.folder, name), content)
  }

  /** Runs a command on the images that are stored under a name. */
  async run(storage: string, ...args: string[]): Promise<string> {
    const { folder } = this
    const stores = ['--root', join(folder, storage), '--runroot', join(folder, `${storage}-run`)]
    const all = [...stores, '--storage-driver', 'vfs', ...options[this.#program], ...args]
    const env = { ...process.env, HOME: folder, BUILDAH_ISOLATION: 'chroot' }
    return (await run(this.#program, all, { env })).stdout.trim()
  }

  login(username: string, password: string): Promise<string> {
    return this.run('any', 'login', ...this.client, '-u', username, '-p', password, this.#host)
  }

  imageOf(name: string): string {
    return `${this.#host}/${name}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

describe.skipIf(!isInstalled('buildah'))(titleFor('buildah'), () => {
  test('buildah signs in with a password, pushes an image that it built, and pulls it', async ({ world }) => {
    await using engine = await Engine.start('buildah', world)
    const { client } = engine
    const user = await world.user()
    const project = await world.project({ members: [[user, 'developer']] })
    const content = unique('content')
    await engine.write('file', content)
    const image = engine.imageOf(`${imageAt(project)}:built`)
    const made = await engine.run('one', 'from', 'scratch')
    await engine.run('one', 'copy', made, join(engine.folder, 'file'), '/file')
    await engine.run('one', 'commit', made, image)
    await engine.login(user.username, 'correct horse battery')
    await engine.run('one', 'push', ...client, image)
    await engine.run('two', 'pull', ...client, image)
    const pulled = await engine.run('two', 'from', '--pull-never', image)
    const mounted = await engine.run('two', 'mount', pulled)
    expect(await readFile(join(mounted, 'file'), 'utf8')).toBe(content)
    await expect(engine.login(user.username, 'wrong')).rejects.toThrow()
  })
})

describe.skipIf(!isInstalled('podman'))(titleFor('podman'), () => {
  test('podman signs in with a token, builds, pushes and pulls an image, and fails to pull it once it is deleted', async ({
    world,
  }) => {
    await using engine = await Engine.start('podman', world)
    const { client } = engine
    const user = await world.user()
    const project = await world.project({ members: [[user, 'developer']] })
    await engine.write('file', unique('content'))
    await engine.write('Containerfile', 'FROM scratch\nCOPY file /file\n')
    const repository = engine.imageOf(imageAt(project, 'app'))
    const image = `${repository}:1.0`
    await engine.login(user.username, user.token!)
    const built = (
      await engine.run('one', 'build', '-q', '-t', image, '-f', join(engine.folder, 'Containerfile'), engine.folder)
    ).split('\n')
    await engine.run('one', 'push', '-q', ...client, image)
    expect(await (await Registry.open(user, imageAt(project, 'app'))).tags()).toEqual(['1.0'])
    const listed = await engine.run('two', 'search', '--list-tags', ...client, repository)
    expect(listed).toMatch(/app +1\.0$/)
    expect(await engine.run('two', 'pull', '-q', ...client, image)).toBe(built.at(-1))

    const { id } = await repositoryOf(world, project, 'app')
    expect((await user.delete(`/projects/${project.id}/registry/repositories/${id}/tags/1.0`)).status).toBe(200)
    await engine.run('two', 'rmi', image)
    await expect(engine.run('two', 'pull', '-q', ...client, image)).rejects.toThrow(/manifest unknown/)
    await engine.run('one', 'push', '-q', ...client, image)
    expect(await engine.run('two', 'pull', '-q', ...client, image)).toBe(built.at(-1))
  })

  test('podman pushes an image of several platforms as a member, and not without the right to push', async ({
    world,
  }) => {
    await using engine = await Engine.start('podman', world)
    const { client } = engine
    const [developer, reporter] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [developer, 'developer'],
        [reporter, 'reporter'],
      ],
    })
    await engine.write('Containerfile', 'FROM scratch\nCOPY Containerfile /\n')
    const image = engine.imageOf(`${imageAt(project)}:multi`)
    const file = ['-f', join(engine.folder, 'Containerfile')]
    await engine.run('one', 'manifest', 'create', image)
    for (const architecture of ['amd64', 'arm64'])
      await engine.run(
        'one',
        'build',
        '-q',
        '--layers=false',
        '--arch',
        architecture,
        '--manifest',
        image,
        ...file,
        engine.folder,
      )
    const push = () => engine.run('one', 'manifest', 'push', '--all', '-q', ...client, image, `docker://${image}`)
    await engine.login(reporter.username, reporter.token!)
    await expect(push()).rejects.toThrow(/denied|unauthorized/)
    await engine.login(developer.username, developer.token!)
    await push()
    const { text } = await (await Registry.open(developer, imageAt(project))).send('GET', 'manifests/multi')
    const platforms = JSON.parse(text).manifests.map(({ platform }: any) => platform.architecture)
    expect(platforms.sort()).toEqual(['amd64', 'arm64'])
    await engine.login(reporter.username, reporter.token!)
    await engine.run('two', 'pull', '-q', ...client, '--arch', 'arm64', image)
    expect(await engine.run('two', 'image', 'inspect', '--format', '{{.Architecture}}', image)).toBe('arm64')
  })
})
