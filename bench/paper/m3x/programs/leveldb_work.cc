// LevelDB as M3x measures it (section 7.3): pairs are written, and then read.   leveldb DIRECTORY
// PAIRS
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "leveldb/db.h"
#include "leveldb/env.h"

static void check(const leveldb::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "leveldb: %s\n", status.ToString().c_str());
  std::exit(1);
}

// The program alone has the files, and those of the card have no locks.
class WithoutLocks : public leveldb::EnvWrapper {
public:
  WithoutLocks() : EnvWrapper(leveldb::Env::Default()) {}
  leveldb::Status LockFile(const std::string &, leveldb::FileLock **lock) override {
    *lock = new leveldb::FileLock;
    return leveldb::Status::OK();
  }
  leveldb::Status UnlockFile(leveldb::FileLock *lock) override {
    delete lock;
    return leveldb::Status::OK();
  }
};

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  int pairs = std::atoi(argv[2]);
  leveldb::DB *made = nullptr;
  WithoutLocks env;
  leveldb::Options options;
  options.env = &env;
  options.create_if_missing = true;
  check(leveldb::DB::Open(options, argv[1], &made));
  std::unique_ptr<leveldb::DB> db(made);
  for (int n = 0; n < pairs; n++) {
    std::string key = "key" + std::to_string(n * 7919 % pairs);
    check(db->Put(leveldb::WriteOptions(), key,
                  key + std::string(100, static_cast<char>('a' + n % 26))));
  }
  unsigned sum = 0;
  std::unique_ptr<leveldb::Iterator> all(db->NewIterator(leveldb::ReadOptions()));
  for (all->SeekToFirst(); all->Valid(); all->Next())
    for (char byte : all->value().ToString())
      sum = sum * 31 + static_cast<unsigned char>(byte);
  check(all->status());
  std::printf("%d pairs, %u\n", pairs, sum);
  return 0;
}
