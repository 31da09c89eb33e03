#include "bootstrap/network/place.h"

#include <gtest/gtest.h>

#include "os/tcp_address.h"

namespace tutti::bootstrap {
namespace {

Place place_without_network() {
  Place place;
  place.sentence = "no interface chosen; eth0 dropped: no link";
  place.own = {os::TcpAddress::parse("127.0.0.1:1")->ip(), os::TcpAddress::parse("10.0.0.7:1")->ip()};
  return place;
}

TEST(Place, WithANetworkReachesEverybody) {
  Place place = place_without_network();
  place.has_network = true;
  EXPECT_TRUE(validate_reach(place, std::vector<std::string>{"10.0.0.8:80"}).is_ok());
}

TEST(Place, WithoutANetworkReachesWhoIsOnTheSameHost) {
  const Place place = place_without_network();
  EXPECT_TRUE(validate_reach(place, std::vector<std::string>{"127.0.0.1:80"}).is_ok());
  EXPECT_TRUE(validate_reach(place, std::vector<std::string>{"10.0.0.9:80", "10.0.0.7:80"}).is_ok());
}

TEST(Place, WithoutANetworkSaysWhyItReachesNobodyElse) {
  const Status status = validate_reach(place_without_network(), std::vector<std::string>{"10.0.0.8:80"});
  EXPECT_EQ(status.code(), Code::network);
  EXPECT_EQ(status.text(),
            "no interface of this host can be used to reach 10.0.0.8:80 (no interface chosen; eth0 dropped: no link); "
            "give it one that is up, or name one that was dropped in TUTTI_SOCKET_IFNAME");
}

}  // namespace
}  // namespace tutti::bootstrap
