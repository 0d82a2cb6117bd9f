//! Dates in Japanese, Chinese and Korean.

use super::{Language, TWENTY_FOUR_HOURS};

pub(super) const JAPANESE: Language = Language {
    dates: ["yyyy年M月d日EEEE", "yyyy年M月d日", "yyyy/MM/dd", "yyyy/MM/dd"],
    times: ["H時mm分ss秒", "H:mm:ss", "H:mm:ss", "H:mm"],
    between: " ",
    halves: ["午前", "午後"],
    months: ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"],
    short_months: ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"],
    weekdays: ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"],
    short_weekdays: ["月", "火", "水", "木", "金", "土", "日"],
};

/// As in mainland China.
pub(super) const CHINESE: Language = Language {
    dates: ["yyyy年M月d日EEEE", "yyyy年M月d日", "yyyy年M月d日", "yyyy/M/d"],
    times: TWENTY_FOUR_HOURS,
    between: " ",
    halves: ["上午", "下午"],
    months: ["一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月"],
    short_months: ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"],
    weekdays: ["星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"],
    short_weekdays: ["周一", "周二", "周三", "周四", "周五", "周六", "周日"],
};

pub(super) const KOREAN: Language = Language {
    dates: ["yyyy년 M월 d일 EEEE", "yyyy년 M월 d일", "yyyy. M. d.", "yy. M. d."],
    times: ["a h시 m분 s초", "a h시 m분 s초", "a h:mm:ss", "a h:mm"],
    between: " ",
    halves: ["오전", "오후"],
    months: ["1월", "2월", "3월", "4월", "5월", "6월", "7월", "8월", "9월", "10월", "11월", "12월"],
    short_months: ["1월", "2월", "3월", "4월", "5월", "6월", "7월", "8월", "9월", "10월", "11월", "12월"],
    weekdays: ["월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"],
    short_weekdays: ["월", "화", "수", "목", "금", "토", "일"],
};
