import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { imageAt } from '../../src/edges/registry/testing.ts'
import { run } from '../programs/run.ts'
import { temporaryFolder, test } from '../world.ts'

const program = join(import.meta.dirname, '..', 'oci', '.installed', 'conformance')

/** Names of the cases of a JUnit report by their result; of failed ones, with the reason. */
function casesOf(report: string): Record<string, string[]> {
  const cases: Record<string, string[]> = {}
  for (const text of report.split('<testcase ').slice(1)) {
    const [, name, status] = /^name="OCI Conformance Test\/([^"]*)"[^>]* status="([^"]*)"/.exec(text)!
    ;(cases[status!] ??= []).push(status === 'failure' ? `${name}: ${text.slice(0, 500)}` : name!)
  }
  return cases
}

describe.skipIf(!existsSync(program))('OCI conformance tests (skipped without test/oci/install)', () => {
  test('all cases of version 1.1 pass: pull, push, mount, content discovery and content management', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const user = await world.user()
    const project = await world.project({ members: [[user, 'maintainer']] })
    const settings = {
      REGISTRY: new URL(world.origin).host,
      TLS: 'disabled',
      // In one project: between others, a mount without a source is an upload.
      REPO1: imageAt(project, 'one'),
      REPO2: imageAt(project, 'two'),
      USERNAME: user.username,
      PASSWORD: user.token!,
      VERSION: '1.1',
      RESULTS_DIR: folder.path,
      // Its cached token does not permit pulls from the source of a mount.
      CACHE_AUTH: 'false',
      API_BLOBS_DIGEST_HEADER: 'true',
      API_MANIFESTS_DIGEST_HEADER: 'true',
      API_BLOBS_UPLOAD_CANCEL: 'true',
    }
    const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`OCI_${name}`, value]))
    // Fails if a case fails; the report says which.
    await run(program, [], { cwd: folder.path, env: { ...process.env, ...env } }).catch(() => {})
    const { passed, ...others } = casesOf(await readFile(join(folder.path, 'junit.xml'), 'utf8'))
    expect(passed?.length).toBeGreaterThan(600)
    expect(others).toEqual({
      // An invalid range is ignored, as RFC 9110 permits.
      skipped: ['sha256 blobs/range requests/range 500-0', 'sha512 blobs/range requests/range 500-0'],
    })
  })
})
