import { expect, test } from 'vitest'
import { loggedPath } from './logged-path.ts'

const secret = '0123456789abcdef0123456789abcdef'

test.for([
  ['/api/v4/projects?private_token=x', '/api/v4/projects'],
  [`/group/project/uploads/${secret}/a.png`, '/group/project/uploads/[secret]/a.png'],
  [`/api/v4/projects/1/uploads/${secret}/a.png?x=1`, '/api/v4/projects/1/uploads/[secret]/a.png'],
  ['/api/v4/user%3Fprivate_token=abc&a=b', '/api/v4/user%3Fprivate_token=[secret]&a=b'],
  ['/api/v4/user%3FACCESS_TOKEN%3Dabc', '/api/v4/user%3FACCESS_TOKEN%3D[secret]'],
  ['/v2/group/project/blobs/uploads/82a26e39-f429-4c3c-a9d5-b576544f5925', undefined],
  [`/group/project/blob/${secret}/uploads`, undefined],
] as const)('the log has the path of %s without its secrets', ([target, logged]) => {
  expect(loggedPath(target)).toBe(logged ?? target)
})
