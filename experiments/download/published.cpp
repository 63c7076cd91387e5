#include "experiments/download/published.h"

#include "base/name_table.h"
#include "env/digits.h"

namespace saccade {
namespace {

struct Idx {
  std::int64_t bytes;
  const char* sha256;
};

/// Four .gz files with the names of kIdxFiles, available together in each of several places.
std::vector<PublishedFile> idx_files(const std::vector<Idx>& known,
                                     const std::vector<std::string>& places) {
  std::vector<PublishedFile> files;
  for (std::size_t i = 0; i < kIdxFiles.size(); ++i) {
    const std::string name = std::string(kIdxFiles[i]) + ".gz";
    std::vector<std::string> urls;
    for (const std::string& place : places) urls.push_back(place + name);
    files.push_back({name, known[i].bytes, known[i].sha256, urls});
  }
  return files;
}

std::vector<std::string> with_suffix(std::vector<std::string> names, const std::string& suffix) {
  for (std::string& name : names) name += suffix;
  return names;
}

std::vector<PublishedFile> mnist() {
  return idx_files(
      {{9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
       {28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
       {1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
       {4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}},
      {"https://storage.googleapis.com/cvdf-datasets/mnist/",
       "https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"});
}

std::vector<PublishedFile> fashion() {
  return idx_files({{26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
                    {29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
                    {4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
                    {5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}},
                   {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/"
                    "fashion/",
                    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"});
}

std::vector<PublishedFile> kmnist() {
  return idx_files({{18165135, "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4"},
                    {29497, "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17"},
                    {3041136, "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5"},
                    {5120, "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c"}},
                   {"https://codh.rois.ac.jp/kmnist/dataset/kmnist/",
                    "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"});
}

std::vector<PublishedFile> emnist() {
  return {{"emnist-gzip.zip",
           561753746,
           "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e",
           {"https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
            "https://rds.westernsydney.edu.au/Institutes/MARCS/BENS/EMNIST/emnist-gzip.zip",
            "https://www.itl.nist.gov/iaui/vip/cs_links/EMNIST/gzip.zip"},
           with_suffix({kEmnistFiles.begin(), kEmnistFiles.end()}, ".gz")}};
}

std::vector<PublishedFile> svhn() {
  const std::string https = "https://ufldl.stanford.edu/housenumbers/",
                    http = "http://ufldl.stanford.edu/housenumbers/";
  const std::string train = kSvhnFiles[0], test = kSvhnFiles[1];
  return {{train,
           182040794,
           "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
           {http + train, https + train}},
          {test,
           64275384,
           "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
           {http + test, https + test}}};
}

std::vector<PublishedFile> cifar10() {
  std::vector<std::string> members(kCifar10Files.begin(), kCifar10Files.end());
  members.push_back("batches.meta.txt");
  return {{"cifar-10-binary.tar.gz",
           170052171,
           "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
           {"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/"
            "cifar-10-binary.tar.gz",
            "https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets/"
            "cifar-10-binary.tar.gz"},
           members}};
}

const NameTable<std::vector<PublishedFile>>& table() {
  static const NameTable<std::vector<PublishedFile>> sets("digit set", {{"mnist", mnist()},
                                                                        {"fashion", fashion()},
                                                                        {"kmnist", kmnist()},
                                                                        {"emnist", emnist()},
                                                                        {"svhn", svhn()},
                                                                        {"cifar10", cifar10()}});
  return sets;
}

}  // namespace

const std::vector<PublishedFile>& published_files(const std::string& source) {
  return table().at(source);
}

std::vector<std::string> published_sets() { return table().names(); }

}  // namespace saccade
