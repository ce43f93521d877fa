import { mkdir, writeFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { gitSsh, hasSsh, sshUrl, withKey } from '../../../../test/ssh.ts'
import { temporaryFolder, test, unique } from '../../../../test/world.ts'
import { hasGpg, Keyring, signedCommit } from '../../repository/signatures/testing.ts'
import { cloned } from './testing.ts'

const refusal = (text: string, about: string) => [`GL-HOOK-ERR: ${text}`, `Push rule: ${about}`]

describe('push rules over git', () => {
  test('D2-PUSH-DELETE-TAG: tags cannot be deleted over git, but by the API', async ({ world }) => {
    await using at = await cloned(world)
    await at.git('tag', 'v1')
    await at.git('tag', 'v2')
    expect(await at.push('v1', 'v2')).toBe('pushed')
    await at.rule({ deny_delete_tag: true })
    expect(await at.push(':v1')).toEqual(refusal('You cannot delete a tag', 'deny_delete_tag'))
    expect(await at.push('HEAD:refs/tags/v3')).toBe('pushed')
    expect((await at.ann.delete(`${at.at}/repository/tags/v2`)).status).toBe(204)
  })

  test('D2-PUSH-BRANCH: names of branches must match, except the default branch and deletions', async ({ world }) => {
    await using at = await cloned(world)
    expect(await at.push('HEAD:old')).toBe('pushed')
    await at.rule({ branch_name_regex: '^(feature|fix)/' })
    await at.commit()
    const text = "Branch name does not follow the pattern '^(feature|fix)/'"
    expect(await at.push('HEAD:topic')).toEqual(refusal(text, 'branch_name_regex'))
    expect(await at.push('HEAD:old')).toEqual(refusal(text, 'branch_name_regex'))
    expect(await at.push('HEAD:feature/a', 'HEAD:main', ':old', 'HEAD:refs/tags/topic')).toBe('pushed')
    expect(await at.ann.post(`${at.at}/repository/branches`, { branch: 'x', ref: 'main' })).toMatchObject({
      status: 400,
      json: { message: text },
    })
  })

  test('the first branch of an empty repository needs not match', async ({ world }) => {
    await using at = await cloned(world)
    const empty = await world.project({ members: [[at.ann, 'maintainer']] })
    await world.root.post(`/projects/${empty.id}/push_rule`, { branch_name_regex: '^feature/' })
    await at.git('remote', 'add', 'empty', world.remote(empty, at.ann))
    await at.git('push', '-q', 'empty', 'HEAD:main')
    expect((await at.ann.get(`/projects/${empty.id}`)).json.default_branch).toBe('main')
  })

  test('D2-PUSH-MESSAGE: every new commit must match, wherever it is in the push', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ commit_message_regex: '^fix: .+$' })
    await at.commit('fix: one')
    const bad = await at.commit('two')
    await at.commit('Three\n\nfix: in a line of the body')
    const text = "Commit message does not follow the pattern '^fix: .+$'"
    expect(await at.push('HEAD:main')).toEqual(refusal(text, `commit_message_regex, commit: ${bad}`))
    // Commits that a branch has already are not new.
    expect(await at.push('HEAD~2:main')).toBe('pushed')
    expect(await at.push('HEAD~2:refs/heads/other', `${at.first}:refs/heads/old`)).toBe('pushed')
    await at.git('tag', 'v1')
    expect(await at.push('v1')).toEqual(refusal(text, `commit_message_regex, commit: ${bad}`))
    await at.git('tag', '-a', '-m', 'annotated', 'v2')
    expect(await at.push('v2')).toEqual(refusal(text, `commit_message_regex, commit: ${bad}`))
  })

  test('D2-PUSH-MESSAGE-NEGATIVE: forbidden text in a message is refused', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ commit_message_negative_regex: '(?i)ssh-rsa|^WIP' })
    const bad = await at.commit('Good start\n\nwip: not yet')
    expect(await at.push('HEAD:main')).toEqual(
      refusal(
        "Commit message contains the forbidden pattern '(?i)ssh-rsa|^WIP'",
        `commit_message_negative_regex, commit: ${bad}`,
      ),
    )
    await at.reset()
    const huge = await at.commit(`x${'y'.repeat(300 * 1024)}`)
    expect(await at.push('HEAD:main')).toEqual(
      refusal(
        'Commit is larger than 256 KiB, which push rules cannot check',
        `commit_message_negative_regex, commit: ${huge}`,
      ),
    )
  })

  test('D2-PUSH-EMAIL: addresses of committer, then of author must match', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ author_email_regex: '@example\\.com$' })
    await at.commit()
    expect(await at.push('HEAD:main')).toBe('pushed')
    const pattern = "does not follow the pattern '@example\\.com$'"
    await at.git('commit', '-q', '--allow-empty', '--author', 'Eve <eve@evil.org>', '-m', 'x')
    let head = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:main')).toEqual(
      refusal(`Author's email 'eve@evil.org' ${pattern}`, `author_email_regex, commit: ${head}`),
    )
    await at.gitAs('bob@evil.org', 'commit', '-q', '--amend', '--allow-empty', '--no-edit')
    head = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:main')).toEqual(
      refusal(`Committer's email 'bob@evil.org' ${pattern}`, `author_email_regex, commit: ${head}`),
    )
  })

  test('D2-PUSH-COMMITTER: the committer must be a confirmed address of the pusher', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ commit_committer_check: true })
    await at.commit()
    expect(await at.push('HEAD:main')).toBe('pushed')
    const other = (await (await world.user()).get('/user')).json.email
    await at.gitAs(other, 'commit', '-q', '--allow-empty', '-m', 'x')
    let head = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:main')).toEqual(
      refusal(
        `You cannot push commits for '${other}'. You can only push commits if the committer email is one of your own verified emails.`,
        `commit_committer_check, commit: ${head}`,
      ),
    )
    const second = `second-${at.email}`
    expect((await at.ann.post('/user/emails', { email: second })).status).toBe(201)
    await at.gitAs(second, 'commit', '-q', '--amend', '--allow-empty', '--reset-author', '--no-edit')
    head = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:main')).toEqual(
      refusal(`Committer email '${second}' is not verified.`, `commit_committer_check, commit: ${head}`),
    )
    const hidden = `${at.ann.id}-${at.ann.username}@users.noreply.${new URL(world.origin).hostname}`
    await at.gitAs(hidden.toUpperCase(), 'commit', '-q', '--amend', '--allow-empty', '--reset-author', '--no-edit')
    const pushed = await at.push('HEAD:main')
    expect(pushed).toBe('pushed')
  })

  test('commits with the no-reply e-mail of a former username are still those of the user', async ({ world }) => {
    await using at = await cloned(world)
    const host = `users.noreply.${new URL(world.origin).hostname}`
    const former = `${at.ann.id}-${at.ann.username}@${host}`
    const unknown = `${at.ann.id + 1_000_000}-${at.ann.username}@${host}`
    const other = `${(await world.user()).id}-former@${host}`
    await world.root.put(`/users/${at.ann.id}`, { username: unique('renamed') })
    const commitAs = async (address: string) => {
      await at.gitAs(address, 'commit', '-q', '--amend', '--allow-empty', '--reset-author', '-m', 'x')
      return (await at.git('rev-parse', 'HEAD')).trim()
    }
    await at.commit()
    await at.rule({ member_check: true })
    const head = await commitAs(unknown)
    expect(await at.push('HEAD:main')).toEqual(
      refusal(`Author '${unknown}' is not a member of team`, `member_check, commit: ${head}`),
    )
    await commitAs(former)
    expect(await at.push('HEAD:main')).toBe('pushed')
    await at.rule({ commit_committer_check: true })
    await at.commit()
    await commitAs(other)
    expect(await at.push('HEAD:main')).not.toBe('pushed')
    await commitAs(former.toUpperCase())
    expect(await at.push('HEAD:main')).toBe('pushed')
  })

  test('D2-PUSH-MEMBER: author and committer must be users', async ({ world }) => {
    await using at = await cloned(world)
    const bob = (await (await world.user()).get('/user')).json.email
    await at.rule({ member_check: true })
    await at.git('commit', '-q', '--allow-empty', '--author', `Bob <${bob.toUpperCase()}>`, '-m', 'x')
    expect(await at.push('HEAD:main')).toBe('pushed')
    await at.git('commit', '-q', '--allow-empty', '--author', 'Eve <eve@nowhere.example>', '-m', 'x')
    let head = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:main')).toEqual(
      refusal("Author 'eve@nowhere.example' is not a member of team", `member_check, commit: ${head}`),
    )
    await at.gitAs(
      'eve@nowhere.example',
      'commit',
      '-q',
      '--amend',
      '--allow-empty',
      '--author',
      `B <${bob}>`,
      '--no-edit',
    )
    head = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:main')).toEqual(
      refusal("Committer 'eve@nowhere.example' is not a member of team", `member_check, commit: ${head}`),
    )
  })

  test('D2-PUSH-FILE-NAME: added and renamed files must not match, changed and deleted ones may', async ({ world }) => {
    await using at = await cloned(world)
    await at.commit('Change', 'old.exe')
    await at.commit('Change', 'plain')
    expect(await at.push('HEAD:main')).toBe('pushed')
    await at.rule({ file_name_regex: '\\.exe$|^private/' })
    await at.commit('Change', 'old.exe', 'changed')
    await at.git('rm', '-q', 'old.exe')
    await at.git('commit', '-q', '-m', 'Remove it')
    expect(await at.push('HEAD:main')).toBe('pushed')
    const pattern = 'was blacklisted by the pattern \\.exe$|^private/.'
    await at.git('mv', 'plain', 'plain.exe')
    const renamed = await at.commit()
    // A later commit that removes the file does not help: it stays in the history.
    await at.git('rm', '-q', 'plain.exe')
    await at.commit()
    expect(await at.push('HEAD:main')).toEqual(
      refusal(`File name plain.exe ${pattern}`, `file_name_regex, commit: ${renamed}, file: plain.exe`),
    )
    await at.git('reset', '-q', '--hard', renamed)
    await at.git('checkout', '-q', '-b', 'side', at.first)
    const side = await at.commit('Side', 'private/é x')
    await at.git('merge', '-q', '--no-edit', '-X', 'ours', 'HEAD')
    expect(await at.push('side')).toEqual(
      refusal(`File name private/é x ${pattern}`, `file_name_regex, commit: ${side}, file: private/é x`),
    )
  })

  test('a file in place of a submodule is an added one, in a push and in a branch of the API', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ prevent_secrets: true })
    await at.git('update-index', '--add', '--cacheinfo', `160000,${at.first},id_rsa`)
    await at.git('commit', '-q', '-m', 'Submodule')
    expect(await at.push('HEAD:main')).toBe('pushed')
    await at.git('rm', '-q', '--cached', 'id_rsa')
    const secret = await at.commit('Secret', 'id_rsa')
    const text = 'File name id_rsa was blacklisted by the pattern id_rsa$.'
    expect(await at.push('HEAD:main')).toEqual(refusal(text, `prevent_secrets, commit: ${secret}, file: id_rsa`))
    at.repository.git('fetch', '-q', at.work, 'HEAD:refs/merge-requests/7/head')
    expect(await at.ann.post(`${at.at}/repository/branches`, { branch: 'shown', ref: secret })).toMatchObject({
      status: 400,
      json: { message: text },
    })
  })

  test('a refused file whose name is not UTF-8 is named as diffs name it', async ({ world }) => {
    await using at = await cloned(world)
    await writeFile(Buffer.concat([Buffer.from(`${at.work}/`), Buffer.from('gr\xfc\xdfe.exe', 'latin1')]), 'x')
    const commit = await at.commit()
    expect(await at.push('HEAD:topic')).toBe('pushed')
    await at.rule({ file_name_regex: '\\.exe$' })
    const text = 'File name grüße.exe was blacklisted by the pattern \\.exe$.'
    await at.git('commit', '-q', '--amend', '--no-edit', '--allow-empty', '-m', 'Again')
    const again = (await at.git('rev-parse', 'HEAD')).trim()
    expect(await at.push('HEAD:other')).toEqual(refusal(text, `file_name_regex, commit: ${again}, file: grüße.exe`))
    await at.rule({ max_file_size: 1 })
    const large = Buffer.from('gr\xf6\xdfe', 'latin1')
    await writeFile(Buffer.concat([Buffer.from(`${at.work}/`), large]), Buffer.alloc(1024 * 1024 + 1))
    const grown = await at.commit()
    expect(await at.push('HEAD:other')).toEqual(
      refusal('File "größe" is larger than the allowed size of 1 MB', `max_file_size, commit: ${grown}, file: größe`),
    )
    await at.rule({ file_name_regex: '\\.exe$' })
    const picked = await at.ann.post(`${at.at}/repository/commits/${commit}/cherry_pick`, { branch: 'main' })
    expect(picked).toMatchObject({ status: 400, json: { message: text } })
  })

  test('a merge of a branch with forbidden files that exist already is pushed, one that adds a file is not', async ({
    world,
  }) => {
    await using at = await cloned(world)
    await at.commit('Change', 'old.exe')
    expect(await at.push('HEAD:main')).toBe('pushed')
    await at.git('checkout', '-q', '-b', 'topic', at.first)
    await at.commit()
    await at.rule({ file_name_regex: 'exe' })
    await at.git('merge', '-q', '--no-edit', 'main')
    expect(await at.push('topic')).toBe('pushed')
    await at.git('reset', '-q', '--hard', 'HEAD~1')
    await at.git('merge', '-q', '--no-commit', 'main')
    const merge = await at.commit('Merge', 'evil.exe')
    expect(await at.push('topic:other')).toEqual(
      refusal(
        'File name evil.exe was blacklisted by the pattern exe.',
        `file_name_regex, commit: ${merge}, file: evil.exe`,
      ),
    )
  })

  test.for([
    ['config/aws/credentials', 'aws\\/credentials$'],
    ['config/server_rsa', '(ssh|config)\\/(personal|server)_(rsa|dsa|ed\\d+|ecdsa)'],
    ['ssh/personal_ed25519', '(ssh|config)\\/(personal|server)_(rsa|dsa|ed\\d+|ecdsa)'],
    ['deep/in/here/id_rsa', 'id_rsa$'],
    ['ID_DSA', 'id_dsa$'],
    ['id_ed25519', 'id_ed25519$'],
    ['id_ecdsa', 'id_ecdsa$'],
    ['tls/server.pem', '\\.(pem|key)$'],
    ['a.KEY', '\\.(pem|key)$'],
    ['.bash_history', '[._]history$'],
    ['mysql_history', '[._]history$'],
  ])('D2-PUSH-SECRETS: the file %s is refused', async ([path, pattern], { world }) => {
    await using at = await cloned(world)
    await at.rule({ prevent_secrets: true })
    const commit = await at.commit('Change', path)
    expect(await at.push('HEAD:main')).toEqual(
      refusal(
        `File name ${path} was blacklisted by the pattern ${pattern}.`,
        `prevent_secrets, commit: ${commit}, file: ${path}`,
      ),
    )
  })

  test('prevent_secrets lets public keys and similar names pass', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ prevent_secrets: true })
    for (const path of ['id_rsa.pub', 'history.md', 'keys.txt', 'config/server.rs']) await at.commit('Change', path)
    expect(await at.push('HEAD:main')).toBe('pushed')
  })

  test('D2-PUSH-SIZE: new files are limited, files that exist may move, large files (LFS) are pointers', async ({
    world,
  }) => {
    await using at = await cloned(world)
    const large = Buffer.alloc(2 * 1024 * 1024 + 1, 'x')
    await at.commit('Change', 'old.bin', large)
    expect(await at.push('HEAD:main')).toBe('pushed')
    await at.rule({ max_file_size: 2 })
    await at.git('mv', 'old.bin', 'moved.bin')
    await at.commit('Move', 'exact.bin', large.subarray(1))
    expect(await at.push('HEAD:main')).toBe('pushed')
    const commit = await at.commit('Change', 'new.bin', Buffer.alloc(large.length, 'y'))
    await at.git('rm', '-q', 'new.bin')
    await at.commit()
    expect(await at.push('HEAD:main')).toEqual(
      refusal(
        'File "new.bin" is larger than the allowed size of 2 MB',
        `max_file_size, commit: ${commit}, file: new.bin`,
      ),
    )
  })

  test('a large file that the API refused is refused over git, too, although it is stored', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ max_file_size: 1 })
    const content = 'z'.repeat(1024 * 1024 + 1)
    const text = 'File "big" is larger than the allowed size of 1 MB'
    expect(
      await at.ann.post(`${at.at}/repository/files/big`, { branch: 'main', commit_message: 'x', content }),
    ).toMatchObject({ status: 400, json: { message: text } })
    await at.commit('x', 'big', content)
    expect(((await at.push('HEAD:main')) as string[])[0]).toBe(`GL-HOOK-ERR: ${text}`)
  })

  test('tags of files and trees follow the rules of files', async ({ world }) => {
    await using at = await cloned(world)
    await at.commit('x', 'id_rsa', Buffer.alloc(1024 * 1024 + 1, 'k'))
    const tree = (await at.git('rev-parse', 'HEAD^{tree}')).trim()
    const blob = (await at.git('rev-parse', 'HEAD:id_rsa')).trim()
    await at.rule({ max_file_size: 1 })
    expect(((await at.push(`${blob}:refs/tags/file`)) as string[])[0]).toBe(
      `GL-HOOK-ERR: File "${blob}" is larger than the allowed size of 1 MB`,
    )
    await at.rule({ prevent_secrets: true })
    expect(((await at.push(`${tree}:refs/tags/tree`)) as string[])[0]).toBe(
      'GL-HOOK-ERR: File name id_rsa was blacklisted by the pattern id_rsa$.',
    )
    await at.rule({ file_name_regex: 'nothing' })
    expect(await at.push(`${tree}:refs/tags/tree`, `${blob}:refs/tags/file`)).toBe('pushed')
  })

  test('checks of commits come before checks of files, and name the first commit from the tip', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ commit_message_regex: '^fix', file_name_regex: 'bad', max_file_size: 1 })
    const first = await at.commit('no', 'fine')
    await at.commit('fix', 'bad', Buffer.alloc(1024 * 1024 + 1))
    expect(await at.push('HEAD:main')).toEqual(
      refusal("Commit message does not follow the pattern '^fix'", `commit_message_regex, commit: ${first}`),
    )
  })

  test('a push of thousands of files and hundreds of commits is checked to the last', async ({ world }) => {
    await using at = await cloned(world)
    await mkdir(`${at.work}/many`)
    await Promise.all(Array.from({ length: 6000 }, (_, index) => writeFile(`${at.work}/many/${index}`, `${index}`)))
    await at.commit('fix: many')
    for (let index = 0; index < 210; index++) await at.git('commit', '-q', '--allow-empty', '-m', `fix: ${index}`)
    await at.rule({ commit_message_regex: '^fix: ', file_name_regex: '^many/5999$', max_file_size: 1 })
    expect(((await at.push('HEAD:main')) as string[])[0]).toBe(
      'GL-HOOK-ERR: File name many/5999 was blacklisted by the pattern ^many/5999$.',
    )
    await at.rule({ commit_message_regex: '^fix: ', file_name_regex: '^many/6000$', max_file_size: 1 })
    expect(await at.push('HEAD:main')).toBe('pushed')
  })

  test.skipIf(!hasGpg)('D2-PUSH-SIGNED: unsigned commits are refused (skipped without gpg)', async ({ world }) => {
    using ring = new Keyring()
    await using at = await cloned(world)
    await at.rule({ reject_unsigned_commits: true })
    const unsigned = await at.commit()
    expect(await at.push('HEAD:main')).toEqual(
      refusal('Commit must be signed with a GPG key', `reject_unsigned_commits, commit: ${unsigned}`),
    )
    const signed = signedCommit(at, ring, { key: ring.gpgKey(`Ann <${at.email}>`), email: at.email })
    at.repository.git('update-ref', 'refs/hidden/signed', signed)
    await at.git('fetch', '-q', at.repository.gitDir, 'refs/hidden/signed')
    expect(await at.push(`${signed}:refs/heads/signed`)).toBe('pushed')
    const made = { branch: 'main', commit_message: 'x', content: 'x' }
    expect((await at.ann.post(`${at.at}/repository/files/web`, made)).status).toBe(201)
  })

  test('D2-PUSH-SIGNED: a commit whose only signature is of a SHA-256 object is unsigned', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ reject_unsigned_commits: true })
    const text = await at.git('cat-file', 'commit', await at.commit())
    await writeFile(
      `${at.work}/signed`,
      `${text.replace('\n\n', '\ngpgsig-sha256 -----BEGIN SSH SIGNATURE-----\n\n')}\n`,
    )
    const tip = (await at.git('hash-object', '-t', 'commit', '-w', 'signed')).trim()
    expect(await at.push(`${tip}:refs/heads/main`)).toEqual(
      refusal('Commit must be signed with a GPG key', `reject_unsigned_commits, commit: ${tip}`),
    )
  })

  test.skipIf(!hasSsh)('the same rules apply over SSH (skipped without ssh)', async ({ world }) => {
    await using at = await cloned(world)
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, at.ann)
    await at.rule({ commit_message_regex: '^fix' })
    const bad = await at.commit('no')
    const { code, err } = await gitSsh(world, key, at.work, 'push', '-q', sshUrl(world, at), 'HEAD:main')
    expect(code).not.toBe(0)
    for (const line of refusal(
      "Commit message does not follow the pattern '^fix'",
      `commit_message_regex, commit: ${bad}`,
    ))
      expect(err).toContain(`remote: ${line}`)
  })

  test('null checks of a project follow the group, until the project decides', async ({ world }) => {
    const group = await world.group()
    await using at = await cloned(world)
    const project = await world.project({ group, members: [[at.ann, 'maintainer']] })
    await at.git('remote', 'add', 'grouped', world.remote(project, at.ann))
    await world.root.post(`/projects/${project.id}/push_rule`, { member_check: false })
    await world.root.post(`/groups/${group.id}/push_rule`, { commit_committer_check: true })
    const push = () => at.git('push', '-q', 'grouped', 'HEAD:main')
    await expect(push()).rejects.toMatchObject({ stderr: expect.stringContaining('You cannot push commits for') })
    await world.root.put(`/projects/${project.id}/push_rule`, { commit_committer_check: false })
    await push()
  })
})
