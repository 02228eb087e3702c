-- Files of 1 GiB and more, and files whose content lies in several places (the same size and hash), by the bytes that
-- they take up or take up again. The latest run.
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
  FROM latest_files
  WHERE upper(filetype) <> 'DIRECTORY'
)
SELECT fileset, path, size, copies, size * (copies - 1) AS repeated_bytes, hash
FROM sized
WHERE size >= 1073741824 OR copies > 1
ORDER BY size * copies DESC, hash, fileset, path
