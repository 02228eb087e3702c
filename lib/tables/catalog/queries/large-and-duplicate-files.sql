-- Files of 1 GiB or more, and files whose content is stored several times (the same size and hash), ordered by the bytes
-- that all copies take up. From the latest run.
WITH sized AS (
  SELECT
    _filesetid AS fileset,
    id,
    path,
    size,
    hash,
    CASE
      WHEN hash IS NULL THEN 1
      ELSE count(*) OVER (PARTITION BY upper(hashalgorithm), lower(hash), size)
    END AS copies
  FROM files
  WHERE file_type <> 'directory'
)
-- `try`: an impossible size may overflow.
SELECT fileset, path, size, copies, try(size * (copies - 1)) AS repeated_bytes, hash
FROM sized
WHERE size >= 1073741824 OR copies > 1
ORDER BY CAST(size AS double) * copies DESC, hash, fileset, path
